//! A key goes to its own provider and to nobody else; what is wrong with one is said in words that
//! help.

use crate::support::{Home, says, short};
use everloop_models::testing::{CannedReply, FakeServer};
use everloop_models::{KnownProvider, providers};
use serde_json::{Value, json};

const MODELS: [&str; 2] = ["models", "--json"];

fn capitals(provider: &str) -> String {
    provider.to_uppercase().replace('-', "_")
}

fn offers() -> CannedReply {
    CannedReply::json(r#"{"data":[{"id":"x"}]}"#)
}

fn hi() -> CannedReply {
    let event = json!({"choices": [{"delta": {"content": "hi"}, "finish_reason": "stop"}]});
    CannedReply::sse(format!("data: {event}\n\ndata: [DONE]\n\n"))
}

/// A home with a key in every variable that any provider has.
fn rich() -> Home {
    let mut home = Home::new().with("EVERLOOP_SETUP_PROBE", "");
    for variable in providers().flat_map(|known| known.key_variables) {
        home.set(variable, &format!("key-of-{variable}"));
    }
    home
}

/// The keys that a request carries.
fn keys_in(head: &str) -> Vec<&'static str> {
    let all = providers().flat_map(|known| known.key_variables.iter().copied());
    let mut keys: Vec<&str> =
        all.filter(|name| head.contains(&format!("key-of-{name}\r\n"))).collect();
    keys.dedup();
    keys
}

fn distant() -> impl Iterator<Item = KnownProvider> {
    providers().filter(|known| !known.key_variables.is_empty())
}

/// Everybody else has an address here, in the environment and in the file; whoever is asked has
/// none, and is asked at home, through a proxy that sees only where that is.
#[test]
fn no_key_goes_to_the_address_of_another_provider() {
    for asked in distant() {
        let gateway = FakeServer::start(Vec::new());
        let proxy = FakeServer::start(Vec::new());
        let mut home = rich().with("HTTPS_PROXY", &proxy.url());
        for other in providers().filter(|other| other.name != asked.name) {
            let variable = format!("{}_BASE_URL", capitals(other.name));
            home.set(&variable, &format!("{}/{}/v1", gateway.url(), other.name));
        }
        let other = if asked.name == "openai" { "anthropic" } else { "openai" };
        let file = format!(
            "[model]\ndefault = \"{other}/x\"\nbase_url = \"{0}/file/v1\"\nkey_env = \"MINE\"\n\
             [providers.hub]\nbase_url = \"{0}/hub/v1\"\n",
            gateway.url()
        );
        std::fs::write(home.data().join("config.toml"), file).unwrap();
        home.set("EVERLOOP_MODEL", &format!("{}/x", asked.name));
        home.run(MODELS);
        assert!(gateway.seen().is_empty(), "{}: {:?}", asked.name, gateway.seen());
        let (_, host) = asked.address.split_once("://").unwrap();
        let host = host.split('/').next().unwrap();
        for seen in proxy.seen() {
            let line = format!("CONNECT {host}:443 ");
            assert!(seen.head.starts_with(&line), "{}: {}", asked.name, seen.head);
            assert_eq!(keys_in(&seen.head), Vec::<&str>::new(), "{}", seen.head);
        }
        assert!(!proxy.seen().is_empty(), "{} was not asked", asked.name);
    }
}

#[test]
fn each_provider_is_asked_at_its_own_address_with_its_own_key() {
    for asked in providers() {
        let server = FakeServer::start(vec![offers(), offers()]);
        let mut home = rich().with("EVERLOOP_MODEL", &format!("{}/x", asked.name));
        for known in providers() {
            let variable = format!("{}_BASE_URL", capitals(known.name));
            home.set(&variable, &format!("{}/{}/v1", server.url(), known.name));
        }
        home.run(MODELS).ends_with(0);
        let seen = server.seen();
        assert_eq!(seen.len(), 1, "{}", asked.name);
        let line = format!("GET /{}/v1/models", asked.name);
        assert!(seen[0].head.starts_with(&line), "{}", seen[0].head);
        let first: Vec<&str> = asked.key_variables.iter().take(1).copied().collect();
        assert_eq!(keys_in(&seen[0].head), first, "{}", seen[0].head);
    }
}

#[test]
fn the_address_in_the_file_is_the_default_models_and_the_environment_goes_before_it() {
    let in_file = FakeServer::start(vec![hi(), hi()]);
    let elsewhere = FakeServer::start(vec![hi(), hi(), hi(), hi()]);
    let file = format!("[model]\ndefault = \"openai/x\"\nbase_url = \"{}\"\n", in_file.url());
    let mut home = Home::new().with("OPENAI_API_KEY", "sk-own");
    std::fs::write(home.data().join("config.toml"), file).unwrap();
    let run = ["run", "--loop", "react", "hi"];
    home.run(run).ends_with(0);
    assert_eq!(in_file.seen().len(), 1);
    home.set("OPENAI_BASE_URL", &elsewhere.url());
    home.run(run).ends_with(0);
    assert_eq!((in_file.seen().len(), elsewhere.seen().len()), (1, 1));
    for (provider, key) in
        [("deepseek", "DEEPSEEK_API_KEY"), ("hub", "HUB_API_KEY"), ("my-hub", "MY_HUB_API_KEY")]
    {
        home.set("EVERLOOP_MODEL", &format!("{provider}/x"));
        home.set(key, &format!("of-{provider}"));
        home.set(&format!("{}_BASE_URL", capitals(provider)), &elsewhere.url());
        home.run(run).ends_with(0);
        let head = elsewhere.seen().pop().unwrap().head;
        assert!(head.contains(&format!("Bearer of-{provider}\r\n")), "{head}");
    }
    assert_eq!(in_file.seen().len(), 1);
}

#[test]
fn another_default_on_the_command_line_does_not_inherit_the_files_address_and_key() {
    let in_file = FakeServer::start(Vec::new());
    let proxy = FakeServer::start(Vec::new());
    let mut home = rich().with("HTTPS_PROXY", &proxy.url());
    let key = home.path("file.key");
    std::fs::write(&key, "key-of-file\n").unwrap();
    std::fs::set_permissions(&key, std::os::unix::fs::PermissionsExt::from_mode(0o600)).unwrap();
    let file = format!(
        "[model]\ndefault = \"openai/x\"\nbase_url = \"{}\"\nkey = \"file:{}\"\n",
        in_file.url(),
        key.display()
    );
    std::fs::write(home.data().join("config.toml"), file).unwrap();
    home.run(["models", "--set", "model.default=anthropic/claude"]);
    assert!(in_file.seen().is_empty() && !proxy.seen().is_empty());
    home.set("ANTHROPIC_BASE_URL", &in_file.url());
    home.run(["models", "--set", "model.default=anthropic/claude"]);
    let head = in_file.seen().pop().unwrap().head;
    assert_eq!(keys_in(&head), ["ANTHROPIC_API_KEY"], "{head}");
    assert!(!head.contains("key-of-file"));
}

#[test]
fn a_fallback_of_another_provider_has_its_own_address_and_key() {
    let first = FakeServer::start(vec![CannedReply::status(500, "", "down")]);
    let second = FakeServer::start(vec![hi()]);
    let home = rich()
        .endpoint(&first.url())
        .with("DEEPSEEK_BASE_URL", &second.url())
        .with("EVERLOOP_MODEL__FALLBACK", "deepseek/y")
        .with("EVERLOOP_MODEL__FALLBACK_AFTER", "1");
    home.run(["run", "--loop", "react", "hi"]).ends_with(0);
    assert_eq!(keys_in(&first.seen()[0].head), ["OPENAI_API_KEY"]);
    assert_eq!(keys_in(&second.seen()[0].head), ["DEEPSEEK_API_KEY"]);
}

#[test]
fn a_missing_key_is_said_before_anything_is_sent() {
    let proxy = FakeServer::start(Vec::new());
    for (model, variable) in [
        ("openai/x", "OPENAI_API_KEY"),
        ("anthropic/x", "ANTHROPIC_API_KEY"),
        ("qwen/x", "DASHSCOPE_API_KEY"),
        ("glm/x", "ZHIPUAI_API_KEY"),
    ] {
        let home = Home::new().with("EVERLOOP_MODEL", model).with("HTTPS_PROXY", &proxy.url());
        let set = format!("{variable} is not set");
        let export = format!("export {variable}=");
        for args in [&["-p", "hi"][..], &["run", "hi"], &["models", "test"]] {
            home.run(args).ends_with(5).says(&[&set, &export, "everloop config setup"]);
        }
        let told = home.run(["-p", "hi", "--output-format", "json"]).ends_with(5).json();
        assert_eq!(told["error"]["kind"], "no_key", "{told}");
        let zh = home.run(["-p", "hi", "--lang", "zh-CN"]).ends_with(5);
        assert!(zh.stderr.contains(&format!("环境变量 {variable} 没有设置")), "{}", zh.stderr);
    }
    assert!(proxy.seen().is_empty(), "{:?}", proxy.seen());
}

/// What each status is said to be, and what is advised.
#[test]
fn each_refusal_says_what_is_wrong_where_the_key_came_from_and_what_mends_it() {
    let long = r#"{"error":{"message":"too long","code":"context_length_exceeded"}}"#;
    let plain = r#"{"error":{"message":"as it is"}}"#;
    let key_from = "The key came from OPENAI_API_KEY";
    for (status, body, kind, exit, said) in [
        (401, plain, "unauthorized", 5, vec!["Invalid API key", key_from, "config setup"]),
        (403, plain, "forbidden", 5, vec!["does not allow", key_from, "everloop models"]),
        (404, plain, "not_found", 1, vec!["has no model openai/x", "everloop models"]),
        (400, long, "too_long", 1, vec!["too long for openai/x", "context.tokens"]),
        (402, plain, "no_credit", 1, vec!["no credit left", "config setup"]),
        (400, plain, "refused", 1, vec!["as it is"]),
    ] {
        for loop_name in ["plan-replan", "react"] {
            let refused = || CannedReply::status(status, "", body);
            let server = FakeServer::start((0..9).map(|_| refused()).collect());
            let home = Home::new().endpoint(&server.url()).with("OPENAI_API_KEY", "sk-wrong");
            let args = ["run", "--loop", loop_name, "--quiet", "hi"];
            let told = home.run(args).ends_with(exit).says(&said);
            assert!(!told.stdout.contains("unavailable"), "{}", told.stdout);
            assert!(!format!("{told:?}").contains("sk-wrong"), "{told:?}");
            let args = ["run", "--loop", loop_name, "--output-format", "json", "hi"];
            let error = home.run(args).ends_with(exit).json()["error"].clone();
            assert_eq!((&error["kind"], &error["http_status"]), (&json!(kind), &json!(status)));
            assert_eq!(error["key_source"], "OPENAI_API_KEY", "{error}");
            assert!(error["message"].is_string(), "{error}");
        }
    }
}

#[test]
fn a_rate_limit_is_called_one_and_the_run_is_kept() {
    let slow = || CannedReply::status(429, "retry-after: 3600\r\n", "slow down");
    let server = FakeServer::start(vec![slow(), slow()]);
    let home = Home::new().endpoint(&server.url());
    home.run(["run", "hi"]).ends_with(1).says(&["Rate limit", "everloop runs resume"]);
    let args = ["run", "--output-format", "json", "hi"];
    let told = home.run(args).ends_with(1).json();
    assert_eq!(
        (&told["error"]["kind"], &told["status"]),
        (&json!("rate_limited"), &json!("waiting"))
    );
}

#[test]
fn an_ending_without_trouble_has_no_error() {
    let home = Home::scripted(&[says("done")]);
    let args = ["run", "--loop", "react", "--output-format", "json", "hi"];
    assert_eq!(home.run(args).ends_with(0).json()["error"], Value::Null);
}

#[test]
fn in_the_chat_the_advice_can_be_typed_there() {
    let refused = || CannedReply::status(401, "", "{\"error\":{\"message\":\"no such key\"}}");
    let server = FakeServer::start((0..9).map(|_| refused()).collect());
    let home = Home::new().endpoint(&server.url()).with("OPENAI_API_KEY", "sk-wrong");
    let told = home.chat(&["say hi"]).ends_with(0);
    let all = format!("{}{}", told.stdout, told.stderr);
    for words in ["Invalid API key", "The key came from OPENAI_API_KEY", "/model provider/name"] {
        assert!(all.contains(words), "{words}: {all}");
    }
    assert!(!all.contains("unavailable right now"), "{all}");
    let home = Home::new().endpoint("http://127.0.0.1:9/v1");
    home.run(["config", "set", "model.patience", "0s"]).ends_with(0);
    let told = home.chat(&["say hi"]).ends_with(0);
    let all = format!("{}{}", told.stdout, told.stderr);
    let resume = format!("/resume {}", short(&home.newest()));
    assert!(all.contains(&resume) && !all.contains("everloop runs resume"), "{all}");
    assert!(all.contains("The address http://127.0.0.1:9/v1 came from OPENAI_BASE_URL"), "{all}");
}

#[test]
fn a_provider_that_nobody_knows_is_refused_with_the_names_near_it() {
    let home = Home::scripted(&[says("done")]).with("OPENAI_BASE_URL", "http://127.0.0.1:9/v1");
    let told = home.chat(&["/model depseek/foo", "/model"]).ends_with(0);
    let all = format!("{}{}", told.stdout, told.stderr);
    assert!(all.contains("Unknown provider depseek. Did you mean deepseek?"), "{all}");
    assert!(all.contains("DEPSEEK_BASE_URL") && !all.contains("use the depseek"), "{all}");
    let home = home.with("EVERLOOP_MODEL", "nosuch/foo");
    home.run(["-p", "hi"]).ends_with(5).says(&["Unknown provider nosuch", "NOSUCH_BASE_URL"]);
}

#[test]
fn where_addresses_and_keys_come_from_is_shown_and_no_key() {
    let home = Home::new()
        .with("EVERLOOP_MODEL", "deepseek/x")
        .with("DEEPSEEK_BASE_URL", "http://127.0.0.1:9/v1")
        .with("DEEPSEEK_API_KEY", "sk-deep-secret")
        .with("OPENAI_API_KEY", "sk-open-secret");
    home.run(["config", "set", "providers.hub.base_url", "http://127.0.0.1:8/v1"]).ends_with(0);
    let value = home.run(["config", "get", "providers.hub.base_url"]).ends_with(0).stdout;
    assert_eq!(value, "http://127.0.0.1:8/v1\n");
    let shown = home.run(["config", "show"]).ends_with(0).stdout;
    let doctor = home.run(["doctor"]).stdout;
    for words in [
        "deepseek: http://127.0.0.1:9/v1 (DEEPSEEK_BASE_URL), key from DEEPSEEK_API_KEY",
        "openai: https://api.openai.com/v1, key from OPENAI_API_KEY",
        "hub: http://127.0.0.1:8/v1 (",
    ] {
        assert!(shown.contains(words), "{words}: {shown}");
        assert!(doctor.contains(words), "{words}: {doctor}");
    }
    let json = home.run(["doctor", "--json"]).stdout;
    let all = format!("{shown}{doctor}{json}");
    assert!(!all.contains("sk-deep") && !all.contains("sk-open"), "{all}");
    home.run(["config", "unset", "providers.hub.base_url"]).ends_with(0);
    assert!(!home.run(["config", "show"]).stdout.contains("hub:"));
}

#[test]
fn a_model_that_is_not_offered_and_a_key_that_is_refused_are_told_of() {
    let refused = CannedReply::status(401, "", "{\"error\":{\"message\":\"no such key\"}}");
    let list = CannedReply::json(r#"{"data":[{"id":"mock"}]}"#);
    let server = FakeServer::start(vec![list, refused]);
    let home = Home::new().endpoint(&server.url()).with("EVERLOOP_SETUP_PROBE", "");
    let home = home.with("OPENAI_API_KEY", "sk-wrong");
    home.run(["models"]).ends_with(0).says(&["openai/x is not among the models"]);
    let told = home.run(["models"]).ends_with(5);
    assert!(told.stdout.contains("Invalid API key"), "{}", told.stdout);
    assert!(!told.stdout.contains('✔'), "{}", told.stdout);
}

#[test]
fn a_test_of_a_model_ends_with_the_first_refusal_of_its_key_and_in_time() {
    let refused = || CannedReply::status(401, "", "{\"error\":{\"message\":\"no such key\"}}");
    let server = FakeServer::start(vec![refused(), refused(), refused()]);
    let home = Home::new().endpoint(&server.url()).with("OPENAI_API_KEY", "sk-wrong");
    let told = home.run(["models", "test", "--json"]).ends_with(5);
    let told = told.says(&["Invalid API key", "OPENAI_API_KEY"]).json();
    assert_eq!(told["checks"].as_array().unwrap().len(), 1, "{told}");
    assert_eq!((&told["error"]["kind"], server.seen().len()), (&json!("unauthorized"), 1));
    let silent = FakeServer::start((0..9).map(|_| CannedReply::stream().stall()).collect());
    let home = Home::new().endpoint(&silent.url());
    let told = home.run(["models", "test", "--set", "model.test_timeout=1s"]).ends_with(1);
    assert!(told.stdout.contains("not done within 1 s"), "{}", told.stdout);
}

#[test]
fn an_address_that_the_model_does_not_use_is_not_passed_over_in_silence() {
    let server = FakeServer::start(vec![hi()]);
    let home = Home::new()
        .with("EVERLOOP_MODEL", "deepseek/x")
        .with("DEEPSEEK_BASE_URL", &server.url())
        .with("EVERLOOP_MODEL__BASE_URL", "http://127.0.0.1:9/v1");
    let told = home.run(["run", "--loop", "react", "hi"]).ends_with(0);
    told.says(&["model.base_url is the address of openai", "DEEPSEEK_BASE_URL"]);
}

#[test]
fn without_a_model_what_is_missing_is_named() {
    let home = Home::new();
    home.run(["-p", "hi"]).ends_with(5).says(&["everloop config setup", "OPENAI_API_KEY"]);
    let home = home.with("DASHSCOPE_API_KEY", "sk-own");
    let told = home.run(["-p", "hi"]).ends_with(5);
    told.says(&["DASHSCOPE_API_KEY is set", "export EVERLOOP_MODEL=qwen/"]);
}
