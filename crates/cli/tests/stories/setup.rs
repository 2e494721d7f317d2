//! The first run: two questions on a terminal, and what they leave behind.

use crate::support::{Home, Terminal};
use everloop_models::testing::{CannedReply, FakeServer};
use std::os::unix::fs::PermissionsExt;

const SETUP: [&str; 2] = ["config", "setup"];
const CTRL_C: u8 = 3;

fn config(home: &Home) -> String {
    std::fs::read_to_string(home.data().join("config.toml")).unwrap_or_default()
}

/// A home in which no local model is found.
fn alone() -> Home {
    let mut home = Home::new().with("EVERLOOP_SETUP_PROBE", "http://127.0.0.1:1/v1");
    home.unset("EVERLOOP_LANG");
    home
}

fn offers(names: &[&str]) -> CannedReply {
    let data: Vec<_> = names.iter().map(|name| serde_json::json!({ "id": name })).collect();
    CannedReply::json(&serde_json::json!({ "data": data }).to_string())
}

fn says_ok() -> CannedReply {
    CannedReply::sse(
        "data: {\"choices\":[{\"index\":0,\"delta\":{\"content\":\"ok\"}}]}\n\n\
         data: {\"choices\":[{\"index\":0,\"delta\":{},\"finish_reason\":\"stop\"}]}\n\n\
         data: [DONE]\n\n",
    )
}

/// Answers the first question.
fn asked(home: &Home, language: &str) -> Terminal {
    let mut terminal = home.on_terminal(SETUP);
    terminal.until("[1] 简体中文  [2] English").until("› ").types(language);
    terminal
}

#[test]
fn a_local_model_is_found_written_down_and_tried() {
    let server = FakeServer::start(vec![offers(&["qwen3:8b", "other"]), says_ok()]);
    let url = format!("{}/v1", server.url().trim_end_matches("/v1"));
    let home = alone().with("EVERLOOP_SETUP_PROBE", &format!("http://127.0.0.1:1/v1,{url}"));
    let mut terminal = asked(&home, "中文");
    terminal.until("还没有配置模型").until(&format!("检测到 {url}：qwen3:8b"));
    terminal.until("› ").types("14");
    terminal.until("✔ 已连通 qwen3:8b（").until("数据目录").until("试试：");
    let told = terminal.ended().ends_with(0);
    assert!(told.stdout.contains("model.default = \"local/qwen3:8b\""), "{}", told.stdout);
    let written = config(&home);
    assert!(written.contains(&format!("[providers.local]\nbase_url = \"{url}\"\n")), "{written}");
    assert!(written.contains("[model]\ndefault = \"local/qwen3:8b\"\n"), "{written}");
    assert!(server.seen()[0].head.starts_with("GET /v1/models "), "{}", server.seen()[0].head);
    assert_eq!(server.seen()[1].json()["model"], "qwen3:8b");
    let list = home.run(["runs", "list"]).ends_with(0);
    assert!(list.stderr.contains("还没有任务") || list.stdout.contains("还没有任务"), "{list:?}");
}

#[test]
fn an_address_is_asked_for_and_a_key_is_typed_unseen_and_kept_in_a_file_of_its_own() {
    let server = FakeServer::start(vec![offers(&["a", "b"]), says_ok()]);
    let home = alone();
    let mut terminal = asked(&home, "2");
    terminal.until("No model is configured").until("none was found").until("› ").types("15");
    terminal.until("Address (such as").until("› ").types("sk-oh-no");
    terminal.until("That looks like a key").until("› ").types("nonsense");
    terminal.until("not an http or https address").until("› ").types(&server.url());
    terminal.until("key for custom").until("› ").types("http://127.0.0.1:9/v1");
    terminal.until("That is an address, not a key").until("› ").types("sk-very-secret");
    terminal.until("Models there: a, b").until("› ").types("the cheap one, please");
    terminal.until("not the name of a model").until("such as a").until("› ").types("big-model");
    terminal.until("big-model is not in the list").until("one of: a, b");
    terminal.until("› ").types("big-model");
    terminal.until("✔ The model big-model works").until("Try:");
    let told = terminal.ended().ends_with(0);
    assert!(!told.stdout.contains("sk-very-secret"), "{}", told.stdout);
    let key = home.data().join("secrets/model-custom");
    assert_eq!(std::fs::read_to_string(&key).unwrap(), "sk-very-secret\n");
    assert_eq!(std::fs::metadata(&key).unwrap().permissions().mode() & 0o777, 0o600);
    assert!(!config(&home).contains("sk-") && config(&home).contains("custom/big-model"));
    assert!(server.seen().iter().all(|seen| seen.head.contains("sk-very-secret")));
}

#[test]
fn a_provider_is_chosen_by_name_and_a_key_that_is_refused_is_asked_for_again() {
    for (answer, provider) in
        [("通义", "qwen"), ("4", "deepseek"), ("Kimi", "moonshot"), ("glm-intl", "glm-intl")]
    {
        let refused = CannedReply::status(401, "", "{\"error\":{\"message\":\"no such key\"}}");
        let server = FakeServer::start(vec![refused, offers(&["m-1", "m-2"]), says_ok()]);
        let variable = format!("{}_BASE_URL", provider.to_uppercase().replace('-', "_"));
        // Without a model the address alone would be taken for a choice.
        let home = alone().with(&variable, &server.url());
        std::fs::write(home.data().join("config.toml"), "[model]\ndefault = \"hub/x\"\n").unwrap();
        let mut terminal = asked(&home, "2");
        terminal.until("The model is hub/x").until("› ").types(answer);
        terminal.until(&format!("key for {provider}")).until("› ").types("sk-bad-one");
        terminal.until("rejected and is not saved").until("› ").types("sk-good-one");
        terminal.until("Models there: m-1, m-2").until("› ").types("m-2");
        terminal.until("works").until("Try:");
        let told = terminal.ended().ends_with(0);
        assert!(!told.stdout.contains("sk-bad") && !told.stdout.contains("sk-good"));
        let written = config(&home);
        assert!(written.contains(&format!("default = \"{provider}/m-2\"")), "{written}");
        assert!(!written.contains("sk-") && !written.contains("base_url"), "{written}");
        let kept = home.data().join(format!("secrets/model-{provider}"));
        assert_eq!(std::fs::read_to_string(kept).unwrap(), "sk-good-one\n");
        assert!(server.seen()[2].head.contains("Bearer sk-good-one"), "{}", server.seen()[2].head);
    }
}

#[test]
fn another_provider_does_not_get_the_key_and_the_address_of_the_one_before() {
    let old = FakeServer::start(Vec::new());
    let new = FakeServer::start(vec![offers(&["m-1"]), says_ok()]);
    let home = alone().with("DEEPSEEK_BASE_URL", &new.url());
    let key = home.data().join("model.key");
    std::fs::write(&key, "sk-of-openai\n").unwrap();
    std::fs::set_permissions(&key, std::fs::Permissions::from_mode(0o600)).unwrap();
    let file = format!("[model]\ndefault = \"openai/x\"\nbase_url = \"{}\"\n", old.url());
    std::fs::write(home.data().join("config.toml"), file).unwrap();
    let mut terminal = asked(&home, "2");
    terminal.until("The model is openai/x").until("› ").types("deepseek");
    terminal.until("key for deepseek").until("› ").types("");
    terminal.until("works").until("Try:");
    terminal.ended().ends_with(0);
    assert!(old.seen().is_empty(), "{:?}", old.seen());
    assert!(new.seen().iter().all(|seen| !seen.head.contains("sk-of-openai")));
    assert!(!key.exists() && !config(&home).contains("[model]\nbase_url"), "{}", config(&home));
    assert!(config(&home).contains("[providers.openai]\nkey = \"file:"), "{}", config(&home));
}

#[test]
fn ctrl_c_at_the_key_leaves_no_key_and_a_terminal_that_can_be_used() {
    let home = alone();
    let mut terminal = asked(&home, "");
    terminal.until("› ").types("1");
    terminal.until("hidden").until("› ").presses(b's').presses(CTRL_C);
    terminal.ended().ends_with(130);
    assert!(!home.data().join("secrets").exists() && !config(&home).contains("[model]"));
}

#[test]
fn nothing_may_be_chosen_and_nonsense_is_asked_again() {
    let home = alone().with("LANG", "zh_CN.UTF-8");
    let mut terminal = asked(&home, "7");
    terminal.until("1, 2").until("detected: zh-CN) › ").types("");
    terminal.until("0. 先不配置").until("› ").types("14");
    terminal.until("没有检测到").until("› ").types("没有这家");
    terminal.until("没有这个服务商").until("› ").types("0");
    terminal.until("试试：");
    terminal.ended().ends_with(0);
    assert_eq!(config(&home), "[ui]\nlanguage = \"zh-CN\"\n");
}

#[test]
fn a_model_of_the_environment_can_be_kept_and_a_key_that_it_refuses_is_asked_for_again() {
    let refused = || CannedReply::status(401, "", "{\"error\":{\"message\":\"wrong key\"}}");
    let server = FakeServer::start(vec![refused(), offers(&["x"]), says_ok()]);
    let home = alone().endpoint(&server.url()).with("OPENAI_API_KEY", "sk-wrong-secret");
    let mut terminal = asked(&home, "2");
    terminal.until("Using the environment (EVERLOOP_MODEL, OPENAI_BASE_URL, OPENAI_API_KEY)");
    terminal.until("0. Leave it as it is").until("› ").types("");
    terminal.until("did not answer as expected").until("key for openai").until("› ");
    terminal.types("sk-right-one").until("works").until("Try:");
    let told = terminal.ended().ends_with(0);
    assert!(!told.stdout.contains("sk-wrong") && !told.stdout.contains("sk-right"));
    let kept = std::fs::read_to_string(home.data().join("secrets/model-openai")).unwrap();
    assert_eq!(kept, "sk-right-one\n");
    assert!(server.seen()[2].head.contains("Bearer sk-right-one"), "{}", server.seen()[2].head);
}

#[test]
fn another_model_than_that_of_the_environment_is_tried_and_the_variable_is_warned_of() {
    let old = FakeServer::start(Vec::new());
    let new = FakeServer::start(vec![offers(&["m-1", "m-2"]), says_ok()]);
    let home = alone().endpoint(&old.url()).with("DEEPSEEK_BASE_URL", &new.url());
    let mut terminal = asked(&home, "2");
    terminal.until("Using the environment").until("› ").types("deepseek");
    terminal.until("key for deepseek").until("› ").types("sk-deep-one");
    // The return key alone takes the first model that is listed.
    terminal.until("Models there: m-1, m-2").until("[m-1] › ").types("");
    terminal.until("The model m-1 works").until("EVERLOOP_MODEL is still set").until("Try:");
    terminal.ended().ends_with(0);
    assert!(config(&home).contains("default = \"deepseek/m-1\""), "{}", config(&home));
    assert!(old.seen().is_empty());
    assert_eq!(new.seen()[1].json()["model"], "m-1");
}

/// Set-up up to a key that the list of models takes and the model refuses.
fn refused_by_the_model(home: &Home, server: &FakeServer) -> Terminal {
    let mut terminal = asked(home, "2");
    terminal.until("No model is configured").until("› ").types("15");
    terminal.until("Address (such as").until("› ").types(&server.url());
    terminal.until("key for custom").until("› ").types("sk-wrong-one");
    terminal.until("did not answer as expected").until("key for custom").until("› ");
    terminal
}

fn refuses() -> FakeServer {
    let refused = CannedReply::status(401, "", "{\"error\":{\"message\":\"wrong key\"}}");
    FakeServer::start(vec![offers(&["m-1"]), refused])
}

#[test]
fn a_key_that_the_model_refuses_leaves_no_set_up_that_cannot_work() {
    let (home, server) = (alone(), refuses());
    let mut terminal = refused_by_the_model(&home, &server);
    terminal.presses(CTRL_C);
    terminal.ended().ends_with(130);
    assert_eq!(config(&home), "[ui]\nlanguage = \"en\"\n");
    assert!(!home.data().join("secrets").exists());

    let (home, server) = (alone(), refuses());
    let mut terminal = refused_by_the_model(&home, &server);
    terminal.types("").until("q save nothing › ").types("q").until("Nothing was saved");
    terminal.ended().ends_with(0);
    assert_eq!(config(&home), "[ui]\nlanguage = \"en\"\n");
    assert!(!home.data().join("secrets").exists());

    let (home, server) = (alone(), refuses());
    let mut terminal = refused_by_the_model(&home, &server);
    terminal.types("").until("s save anyway").types("s").until("The settings are saved");
    terminal.ended().ends_with(0);
    assert!(config(&home).contains("default = \"custom/m-1\""), "{}", config(&home));
    assert!(config(&home).contains("model-custom\""), "{}", config(&home));
    let key = std::fs::read_to_string(home.data().join("secrets/model-custom")).unwrap();
    assert_eq!(key, "sk-wrong-one\n");
}

#[test]
fn without_a_person_the_commands_are_named_instead() {
    let home = Home::new();
    home.run(SETUP).ends_with(5).says(&["EVERLOOP_MODEL", "OPENAI_API_KEY", "OPENAI_BASE_URL"]);
    home.run(SETUP.iter().chain(&["--lang", "zh-CN"])).ends_with(5).says(&["没有配置模型"]);
    assert_eq!(std::fs::read_dir(home.data()).unwrap().count(), 0);
}

#[test]
fn a_model_is_proposed_where_the_provider_is_out_of_reach() {
    for (answer, key, model) in [
        ("2", "sk-ant-fake-0123456789", "anthropic/claude-sonnet-4-5"),
        ("Gemini", "AIzaFake0123456789", "gemini/gemini-2.5-flash"),
    ] {
        let home = alone().with("HTTPS_PROXY", "http://127.0.0.1:1");
        let mut terminal = asked(&home, "2");
        terminal.until("No model is configured").until("› ").types(answer);
        terminal.until("key for ").until("› ").types(key);
        terminal.until("did not answer").until("q save nothing › ").types("s");
        terminal.until(&format!("model.default = \"{model}\"")).until("Try:");
        let told = terminal.ended().ends_with(0);
        assert!(!told.stdout.contains(key), "{}", told.stdout);
        let provider = model.split('/').next().unwrap();
        let kept = home.data().join(format!("secrets/model-{provider}"));
        assert_eq!(std::fs::read_to_string(kept).unwrap().trim(), key);
        let written = config(&home);
        assert!(written.contains(&format!("default = \"{model}\"")), "{written}");
        assert!(!written.contains("base_url") && !written.contains(key), "{written}");
    }
}

#[test]
fn keys_of_the_environment_are_named_and_used_and_only_the_model_is_asked_for() {
    let server = FakeServer::start(vec![offers(&["small", "big"]), says_ok()]);
    let home = alone().with("OPENAI_API_KEY", "sk-fake-a").with("ANTHROPIC_API_KEY", "sk-fake-b");
    let home = home.with("OPENAI_BASE_URL", &server.url());
    let mut terminal = asked(&home, "2");
    terminal.until("Using the environment (OPENAI_API_KEY, OPENAI_BASE_URL, ANTHROPIC_API_KEY)");
    terminal.until("or: anthropic/claude-sonnet-4-5");
    terminal.until("Name of the model [openai/small] › ").types("");
    terminal.until("✔ The model small works").until("Try:");
    let told = terminal.ended().ends_with(0);
    assert!(!told.stdout.contains("No model is configured"), "{}", told.stdout);
    assert!(!told.stdout.contains("sk-fake"), "{}", told.stdout);
    assert_eq!(config(&home), "[ui]\nlanguage = \"en\"\n\n[model]\ndefault = \"openai/small\"\n");
    assert!(server.seen()[0].head.contains("sk-fake-a"));
}

#[test]
fn without_questions_a_chat_on_a_terminal_names_the_commands_and_the_offer_comes_later() {
    let home = alone().with("TERM", "xterm").with("NO_COLOR", "1").with("EVERLOOP_LANG", "en");
    let told = home.on_terminal(["--no-input"]).ended().ends_with(5).stdout;
    for line in ["export EVERLOOP_MODEL=", "export OPENAI_API_KEY=", "export OPENAI_BASE_URL="] {
        assert!(told.contains(line), "{told}");
    }
    home.run(["todo", "add", "milk"]).ends_with(0);
    let mut chat = home.on_terminal::<&str>([]);
    chat.until("0. Leave it for now").until("› ").types("0").until("You › ").presses(4);
    chat.ended().ends_with(0);
}

#[test]
fn a_sentence_is_no_name_of_a_model_and_is_asked_for_again_in_chinese() {
    let server = FakeServer::start(vec![offers(&["m-1", "m-2"]), says_ok()]);
    let home = alone();
    let mut terminal = asked(&home, "1");
    terminal.until("还没有配置模型").until("› ").types("15");
    terminal.until("地址").until("› ").types(&server.url());
    terminal.until("密钥").until("› ").types("sk-very-secret");
    terminal.until("可用的模型：m-1, m-2").until("› ").types("随便用一个便宜的");
    terminal.until("这不是模型名称").until("如 m-1").until("› ").types("m-2");
    terminal.until("✔ 已连通 m-2");
    terminal.ended().ends_with(0);
    assert!(config(&home).contains("custom/m-2"), "{}", config(&home));
}
