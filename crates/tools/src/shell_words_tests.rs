//! What is seen of a line, and what is only told to be unknown.

use super::*;

fn commands(line: &str) -> (Vec<Vec<String>>, bool) {
    let ParsedCommandLine { commands, is_plain, .. } = parse(line);
    (commands, is_plain)
}

fn words(commands: &[&[&str]]) -> Vec<Vec<String>> {
    commands.iter().map(|words| words.iter().map(|&word| word.to_owned()).collect()).collect()
}

#[test]
fn a_line_is_taken_apart_where_the_shell_does() {
    for (line, expected) in [
        ("git status", &[&["git", "status"][..]][..]),
        ("  a   b\t'c d' ", &[&["a", "b", "c d"]]),
        (r#"a "b \" c"d e\ f '' "" "#, &[&["a", "b \" cd", "e f", "", ""]]),
        ("a | b && c || d; e\nf", &[&["a"], &["b"], &["c"], &["d"], &["e"], &["f"]]),
        ("a 2>&1 | b > /dev/null 2>/dev/null </dev/null", &[&["a"], &["b"]]),
        ("a # b; c\nd", &[&["a"], &["d"]]),
        ("a#b", &[&["a#b"]]),
        ("g''it sta\\tus", &[&["git", "status"]]),
        ("a '$b `c` *'", &[&["a", "$b `c` *"]]),
    ] {
        assert_eq!(commands(line), (words(expected), true), "{line}");
    }
}

#[test]
fn what_cannot_be_known_is_never_plain() {
    for line in [
        "a $(b)",
        "a `b`",
        "a $b",
        "a \"$b\"",
        "a \"`b`\"",
        "a > f",
        "a >> f",
        "a < f",
        "a 2> f",
        "a <<END",
        "a <<<x",
        "a >&f",
        "a &> f",
        "a & b",
        "a |& b",
        "(a)",
        "{ a; }",
        "! a",
        "if a; then b; fi",
        "for x in a; do b; done",
        "while a; do b; done",
        "a() { b; }",
        "eval a",
        "bash -c a",
        "/bin/sh -c a",
        "env a",
        "xargs a",
        "sudo a",
        "exec a",
        ". a",
        "source a",
        "A=b c",
        "a *",
        "a ?",
        "a [b]",
        "a ~",
        "a {b,c}",
        "a 'b",
        "a \"b",
        "a \\",
        "a \u{1b}b",
        "a\rb",
        "nohup a",
        "timeout 1 a",
        "command a",
        "a 3>&2 4<&1",
    ] {
        assert!(!parse(line).is_plain, "{line}");
    }
}

#[test]
fn what_is_hidden_in_a_line_is_still_seen() {
    for (line, hidden) in [
        ("echo $(rm -rf x)", &["rm", "-rf", "x"][..]),
        ("echo `rm -rf x`", &["rm", "-rf", "x"]),
        ("(rm -rf x)", &["rm", "-rf", "x"]),
        ("a & rm x", &["rm", "x"]),
        ("sudo env A=b rm x", &["rm", "x"]),
        ("bash -c 'cd /; rm x'", &["rm", "x"]),
        ("sh -c \"sudo bash -c 'rm x'\"", &["rm", "x"]),
        ("A=b rm x", &["rm", "x"]),
        ("find . -name y -exec rm x \\;", &["rm", "x", ";"]),
        ("find . -execdir rm x +", &["rm", "x", "+"]),
        ("find . -ok rm x ;", &["rm", "x"]),
        ("stdbuf -o0 rm x", &["rm", "x"]),
        ("ionice -c3 rm x", &["rm", "x"]),
        ("chrt -i 0 rm x", &["rm", "x"]),
        ("setsid rm x", &["rm", "x"]),
        ("nice -n 5 rm x", &["rm", "x"]),
        ("timeout 5 rm x", &["rm", "x"]),
        ("xargs -n1 rm x", &["rm", "x"]),
        ("env -S 'rm x'", &["rm", "x"]),
        ("busybox rm x", &["rm", "x"]),
        ("unshare -r rm x", &["rm", "x"]),
        ("flock f -c 'rm x'", &["rm", "x"]),
    ] {
        let hidden: Vec<String> = hidden.iter().map(|&word| word.to_owned()).collect();
        assert!(parse(line).commands.contains(&hidden), "{line}: {:?}", parse(line));
    }
}

#[test]
fn a_program_that_only_the_shell_knows_is_told_and_no_other() {
    for line in [
        "x=rm; $x -rf d",
        "$(echo rm) -rf d",
        "`echo rm` -rf d",
        "${X:-rm} -rf d",
        "rm${IFS}-rf${IFS}d",
        "\"$x\" -rf d",
        "A=b $x d",
        "if true; then $x d; fi",
        "for i in a; do $i d; done",
        "/bin/r? d",
        "/bin/r* d",
        "{rm,-rf,d}",
        "sudo $x d",
        "env $x d",
        "eval \"$x\"",
        "sh -c \"$x\"",
        "sh -c '$0 d' rm",
        "xargs $x",
        "find . -exec $x {} ;",
        "echo 'rm -rf d' | sh",
        "echo 'rm -rf d' | bash -s",
        "alias x=rm; x -rf d",
        "ls & $x",
        "sh -c \"sh -c 'sh -c \\\"sh -c \\\\\\\"rm -rf d\\\\\\\"\\\"'\"",
    ] {
        assert!(parse(line).unknown_program.is_some(), "{line}: {:?}", parse(line));
    }
    for line in [
        "echo $x",
        "rm -rf $x",
        "A=$b ls",
        "x=$(date); ls",
        "if [ \"$x\" = y ]; then ls; fi",
        "for i in $list; do echo $i; done",
        "case $x in a) ls;; esac",
        "find $dir -name '*.rs'",
        "find . -name '*.rs' -exec ls {} ;",
        "sh build.sh",
        "bash -c 'ls; pwd'",
        "timeout 5 ls",
        "ls *.rs",
    ] {
        assert_eq!(parse(line).unknown_program, None, "{line}");
    }
}

proptest::proptest! {
    #[test]
    fn a_quoted_word_comes_out_as_it_went_in(word in "[^'\u{0}]{0,20}") {
        let line = format!("a '{word}'");
        proptest::prop_assert_eq!(parse(&line).commands, vec![vec!["a".to_owned(), word]]);
    }

    #[test]
    fn no_line_is_too_odd(line in ".{0,60}") {
        parse(&line);
    }
}

#[test]
fn what_stands_in_quotes_heredocs_and_targets_is_still_seen() {
    for line in [
        "echo \"$(rm -rf d)\"",
        "echo \"`rm -rf d`\"",
        "x=\"$(rm -rf d)\"",
        ": \"${x:=$(rm -rf d)}\"",
        ": ${x:-`rm -rf d`}",
        "echo \"a $(echo \"b $(rm -rf d)\") c\"",
        "echo \"$( (rm -rf d) )\"",
        "echo \"$(# )\nrm -rf d\n)\"",
        "[[ -n \"$(rm -rf d)\" ]]",
        "cat <<'X'\n'\nX\nrm -rf d\n: '",
        "cat <<X\n\"\nX\nrm -rf d\n: \"",
        "cat <<-X\n\t'\n\tX\nrm -rf d\n: '",
        "cat <<A <<B\n'\nA\n'\nB\nrm -rf d",
        "cat <<X\n$(rm -rf d)\nX",
        "cat <<X\n`rm -rf d`\nX",
        "cat <<< 'a b'; rm -rf d; echo '",
        "cat < 'a b'; rm -rf d; echo ''",
        "> \"$(rm -rf d)\"",
        "2>/dev/null rm -rf d",
        ">f rm -rf d",
        "<<X rm -rf d\nX",
        "cat <(rm -rf d)",
        "tee >(rm -rf d)",
        "echo $((1 + $(rm -rf d)))",
        "eval rm '-rf d'",
        "eval 'rm' -rf d",
        "env '-Srm -rf d'",
        "env '--split-string=rm -rf d'",
        "sh -c 'true;rm	-rf	d'",
        "sh -c 'x||rm -rf d'",
        "f() { rm -rf d; }; f",
        "case x in x) rm -rf d;; esac",
        "while rm -rf d; do :; done",
        "rm \\\n-rf d",
    ] {
        let hidden: Vec<String> = ["rm", "-rf", "d"].map(str::to_owned).into();
        let seen = parse(line).commands.iter().any(|words| words.starts_with(&hidden));
        // Where it is not certain what a line runs, a person is asked.
        assert!(seen || parse(line).unknown_program.is_some(), "{line}: {:?}", parse(line));
    }
}

#[test]
fn what_reads_its_commands_from_elsewhere_or_cannot_be_read_is_told() {
    for line in [
        "echo 'rm -rf d' | env sh",
        "echo 'rm -rf d' | command sh",
        "echo 'rm -rf d' | xargs -I{} sh -c {}",
        "echo 'rm -rf d' | xargs -I X X",
        "echo 'rm -rf d' | xargs env",
        "echo rm | xargs -I{} {} -rf d",
        "echo 'rm -rf d' | sh -s x",
        "echo 'rm -rf d' | sh /dev/stdin",
        "echo 'rm -rf d' | . /dev/stdin",
        "echo 'rm -rf d' | sudo -s",
        "echo 'rm -rf d' | su",
        "echo 'rm -rf d' | unshare -r",
        "echo 'rm -rf d' | parallel",
        "echo 'rm -rf d' | at now",
        "sh <<X\nrm -rf d\nX",
        "sh <<< 'rm -rf d'",
        "sh <(echo rm -rf d)",
        "A=b sh",
        "bash -c '{rm,-rf,d}'",
        "echo \"$(case x in x) rm -rf d;; esac)\"",
        "echo \"$(cat <<X\n)\nX\nrm -rf d)\"",
        "echo 'rm -rf d",
        "echo \"$(rm -rf d",
        "echo `rm -rf d",
        "$'\\x72m' -rf d",
    ] {
        assert!(parse(line).unknown_program.is_some(), "{line}: {:?}", parse(line));
    }
}

/// A day of ordinary lines, of which none needs a question more.
#[test]
fn ordinary_lines_are_understood() {
    for line in [
        "cat > notes.md <<'EOF'\nit's a \"test\" of $(nothing) `at all`\nEOF",
        "cat > a.sh <<EOF\necho hi; x=1\nEOF\nchmod +x a.sh",
        "git log --format='%h %s' -n 5 | head",
        "find . -name bash",
        "find . -name '*.py' | xargs grep -n 'def '",
        "find src -type f -print0 | xargs -0 wc -l",
        "xargs -n1 -P 4 python3 run.py < list",
        "echo \"$(date) $HOME\" >> log 2>&1",
        "for f in *.txt; do mv \"$f\" \"${f%.txt}.md\"; done",
        "python3 -c \"print('a b')\"",
        "n=$((1 + 2)); echo $n",
        "awk '{ print $1 }' f | sort | uniq -c",
        "sed -i 's/a$/b/' f",
        "npm test && npm run build > out.log",
        "docker run --rm -v \"$PWD\":/w img ls",
        "timeout 60 cargo test 2>&1 | tail -20",
        "if [ -f x ]; then . ./env.sh; fi",
        "diff <(ls a) <(ls b)",
        "while read -r l; do echo \"$l\"; done < f",
        "curl -s http://127.0.0.1/ | python3 -m json.tool",
        "bash -c 'ls; pwd'",
        "bash build.sh -s x",
        "nohup python3 server.py > log 2>&1 &",
        "curl -s \\\n  -H 'a: b' \\\n  http://127.0.0.1/",
        "cat a |\\\n  sort",
        "echo \"${x:-default} ${#list} ${a[@]} ${p##*/}\"",
        "cd \"$(dirname \"$0\")\" && pwd",
        "echo `date` \"$(grep -c '#' f)\"",
        "echo $(( (a + b) * 2 )) \"cost: $5\" \"foo$\\|bar\"",
        "cat <<EOF > f\nit costs 5$'s\nEOF",
    ] {
        assert_eq!(parse(line).unknown_program, None, "{line}: {:?}", parse(line));
    }
}
