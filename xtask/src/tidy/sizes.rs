//! Sizes. Code over a limit usually lacks a type.

use crate::{Complaint, TokenKind, Tree, TreeFile};
use proc_macro2::Span;
use syn::visit::{self, Visit};

const FILE_LINES_MAX: usize = 500;
const LOOP_LINES_MAX: usize = 300;
const FUNCTION_LINES_MAX: usize = 60;
const LINE_COLUMNS_MAX: usize = 100;
const TRAIT_METHODS_MAX: usize = 10;
const STRUCT_FIELDS_MAX: usize = 16;
const ERROR_VARIANTS_MAX: usize = 10;

/// Crates that only show what others do, with their most lines. What they decide belongs below.
const CRATE_LINES_MAX: [(&str, usize); 1] = [("cli", 10_000)];

/// Crates, files, functions, lines, traits, structs and error enums stay small. Tests may be long.
#[must_use]
pub fn check_sizes(tree: &Tree) -> Vec<Complaint> {
    let crates = CRATE_LINES_MAX.iter();
    let mut complaints: Vec<Complaint> =
        crates.filter_map(|(name, max)| check_crate(tree, name, *max)).collect();
    for file in tree.rust() {
        if !file.is_test() {
            complaints.extend(check_file(file));
            complaints.extend(check_items(file));
        }
        if !is_long_by_nature(file) {
            complaints.extend(check_lines(file));
        }
    }
    complaints
}

/// All lines of the crate's `src`, its unit tests too.
fn check_crate(tree: &Tree, name: &str, max: usize) -> Option<Complaint> {
    let source = format!("crates/{name}/src/");
    let files: Vec<&TreeFile> = tree.rust().filter(|file| file.path.starts_with(&source)).collect();
    let lines: usize = files.iter().map(|file| file.text.lines().count()).sum();
    let largest = files.iter().max_by_key(|file| file.text.lines().count())?;
    (lines > max).then(|| {
        let text = format!("crate `{name}` has {lines} lines in `src`, at most {max}");
        largest.complain(1, text + "; move a whole part to the crate where it belongs")
    })
}

/// The catalog and the prompts are prose, with one entry per line.
fn is_long_by_nature(file: &TreeFile) -> bool {
    file.path.starts_with("crates/text/build/generate.rs")
        || file.stem().starts_with("prompts")
        || file.is_in("prompts")
}

fn check_file(file: &TreeFile) -> Option<Complaint> {
    let (what, max) =
        if is_loop(file) { ("loop", LOOP_LINES_MAX) } else { ("file", FILE_LINES_MAX) };
    let lines = file.lines_without_tests();
    (lines > max).then(|| {
        let text = format!("{what} has {lines} lines without tests, at most {max}");
        file.complain(1, text + "; look for the missing noun and give it a file")
    })
}

/// A file that describes a loop counts as a loop, so a new one needs no change here.
fn is_loop(file: &TreeFile) -> bool {
    file.path.starts_with("crates/loops/src/")
        && file.text.lines().any(|line| line.trim().starts_with("reply_form: ReplyForm::"))
}

fn check_lines(file: &TreeFile) -> Vec<Complaint> {
    let too_long = file.text.lines().enumerate().filter_map(|(n, line)| {
        let columns = line.chars().count();
        (columns > LINE_COLUMNS_MAX && !is_excused(file, n + 1, line)).then(|| {
            let text = format!("line has {columns} columns, at most {LINE_COLUMNS_MAX}");
            file.complain(n + 1, text + "; break it")
        })
    });
    too_long.collect()
}

/// A line may be long because of a URL, or a string that cannot be broken: a raw one, one that
/// spans lines, one without a space. In tests any string is an excuse.
fn is_excused(file: &TreeFile, line: usize, text: &str) -> bool {
    if text.split_whitespace().any(|word| word.contains("://")) {
        return true;
    }
    let is_test = file.is_test_line(line);
    let here = file.tokens.iter().filter(|t| t.is_str() && t.line <= line && line <= t.last_line);
    let mut rest = text.chars().count();
    for token in here {
        if token.line != token.last_line {
            return !token.text.contains("\\\n") || is_test;
        }
        if is_test || token.kind == TokenKind::RawStr || !token.text.trim().contains(' ') {
            rest = rest.saturating_sub(token.text.chars().count());
        }
    }
    rest <= LINE_COLUMNS_MAX
}

fn check_items(file: &TreeFile) -> Vec<Complaint> {
    let mut items = SizeVisitor { file, complaints: Vec::new() };
    match syn::parse_file(&file.text) {
        Ok(parsed) => items.visit_file(&parsed),
        Err(error) => {
            let line = error.span().start().line;
            items.complaints.push(file.complain(line, format!("{error}; fix the syntax")));
        }
    }
    items.complaints
}

struct SizeVisitor<'a> {
    file: &'a TreeFile,
    complaints: Vec<Complaint>,
}

impl SizeVisitor<'_> {
    fn check(&mut self, at: Span, what: &str, found: usize, max: usize, remedy: &str) {
        let line = at.start().line;
        if found > max && !self.file.is_test_line(line) {
            let text = format!("{what}, at most {max}; {remedy}");
            self.complaints.push(self.file.complain(line, text));
        }
    }

    /// From the signature to the closing brace; comments and attributes before it do not count.
    fn check_function(&mut self, sig: &syn::Signature, body: &syn::Block) {
        let first = sig.fn_token.span.start().line;
        let lines = body.brace_token.span.close().end().line + 1 - first;
        let what = format!("function `{}` has {lines} lines", sig.ident);
        let remedy = "keep the branches here and move the work out";
        self.check(sig.ident.span(), &what, lines, FUNCTION_LINES_MAX, remedy);
    }
}

impl<'ast> Visit<'ast> for SizeVisitor<'_> {
    fn visit_item_fn(&mut self, item: &'ast syn::ItemFn) {
        self.check_function(&item.sig, &item.block);
        visit::visit_item_fn(self, item);
    }

    fn visit_impl_item_fn(&mut self, item: &'ast syn::ImplItemFn) {
        self.check_function(&item.sig, &item.block);
        visit::visit_impl_item_fn(self, item);
    }

    fn visit_trait_item_fn(&mut self, item: &'ast syn::TraitItemFn) {
        if let Some(body) = &item.default {
            self.check_function(&item.sig, body);
        }
        visit::visit_trait_item_fn(self, item);
    }

    fn visit_item_trait(&mut self, item: &'ast syn::ItemTrait) {
        let methods =
            item.items.iter().filter(|part| matches!(part, syn::TraitItem::Fn(_))).count();
        if matches!(item.vis, syn::Visibility::Public(_)) {
            let what = format!("trait `{}` has {methods} methods", item.ident);
            let remedy = "split it by who calls it";
            self.check(item.ident.span(), &what, methods, TRAIT_METHODS_MAX, remedy);
        }
        visit::visit_item_trait(self, item);
    }

    fn visit_item_struct(&mut self, item: &'ast syn::ItemStruct) {
        let fields = item.fields.len();
        let what = format!("struct `{}` has {fields} fields", item.ident);
        let remedy = "name the fields that belong together";
        self.check(item.ident.span(), &what, fields, STRUCT_FIELDS_MAX, remedy);
        visit::visit_item_struct(self, item);
    }

    fn visit_item_enum(&mut self, item: &'ast syn::ItemEnum) {
        let variants = item.variants.len();
        if item.attrs.iter().any(derives_error) {
            let what = format!("error enum `{}` has {variants} variants", item.ident);
            let remedy = "give each operation its own";
            self.check(item.ident.span(), &what, variants, ERROR_VARIANTS_MAX, remedy);
        }
        visit::visit_item_enum(self, item);
    }
}

fn derives_error(attr: &syn::Attribute) -> bool {
    let syn::Meta::List(list) = &attr.meta else { return false };
    let derived = list.tokens.to_string();
    list.path.is_ident("derive")
        && derived.split(',').any(|name| name.rsplit(':').next().map(str::trim) == Some("Error"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tidy::said;

    fn sizes_of(path: &str, text: &str) -> Vec<String> {
        said(check_sizes, &[(path, text)])
    }

    #[test]
    fn a_file_over_500_lines_without_its_tests_is_complained_about() {
        let tests = format!("#[cfg(test)]\nmod tests {{\n{}}}\n", "// x\n".repeat(200));
        let at_limit = "// x\n".repeat(500) + &tests;
        assert_eq!(sizes_of("crates/x/src/a.rs", &at_limit), Vec::<String>::new());
        let over = "// x\n".repeat(501) + &tests;
        assert_eq!(
            sizes_of("crates/x/src/a.rs", &over),
            ["crates/x/src/a.rs:1: file has 501 lines without tests, at most 500; \
              look for the missing noun and give it a file"]
        );
        for exempt in ["crates/x/tests/a.rs", "crates/x/src/a_tests.rs", "x/testdata/a.rs"] {
            assert_eq!(sizes_of(exempt, &over), Vec::<String>::new(), "{exempt}");
        }
    }

    #[test]
    fn the_crate_of_the_binary_with_over_10000_lines_is_complained_about() {
        let paths: Vec<String> = (0..20).map(|n| format!("crates/cli/src/a{n}.rs")).collect();
        let full = "// x\n".repeat(500);
        let mut files: Vec<(&str, &str)> =
            paths.iter().map(|path| (path.as_str(), full.as_str())).collect();
        files.push(("crates/cli/tests/stories/a.rs", &full));
        files.push(("crates/store/src/a.rs", &full));
        assert_eq!(said(check_sizes, &files), Vec::<String>::new());
        files.push(("crates/cli/src/main.rs", "fn main() {}\n"));
        let complaints = said(check_sizes, &files);
        assert_eq!(complaints.len(), 1, "{complaints:?}");
        assert!(complaints[0].contains("crate `cli` has 10001 lines in `src`, at most 10000"));
    }

    #[test]
    fn a_loop_file_has_a_limit_of_300_lines() {
        let text = "// x\n".repeat(301);
        assert_eq!(sizes_of("crates/loops/src/transcript.rs", &text), Vec::<String>::new());
        let described =
            text + "const A: LoopSpec = LoopSpec {\n    reply_form: ReplyForm::Calls,\n};\n";
        assert_eq!(sizes_of("crates/loops/src/react.rs", &described).len(), 1);
    }

    #[test]
    fn a_function_over_60_lines_is_complained_about_wherever_it_stands() {
        let body = |lines: usize| format!("fn f() {{\n{}}}\n", "    g();\n".repeat(lines - 2));
        for frame in ["", "impl X {\n", "trait X {\n"] {
            let close = if frame.is_empty() { "" } else { "}\n" };
            let good = format!("{frame}/// Doc.\n#[inline]\n{}{close}", body(60));
            assert_eq!(sizes_of("crates/x/src/a.rs", &good), Vec::<String>::new());
            let bad = format!("{frame}{}{close}", body(61));
            assert_eq!(sizes_of("crates/x/src/a.rs", &bad).len(), 1, "{frame}");
            let in_test = format!("#[cfg(test)]\nmod tests {{\n{bad}}}\n");
            assert_eq!(sizes_of("crates/x/src/a.rs", &in_test), Vec::<String>::new());
        }
    }

    #[test]
    fn a_long_line_is_excused_only_by_a_string_that_cannot_be_broken() {
        let long = "a".repeat(100);
        let words = "word ".repeat(25);
        let good = [
            format!("const A: &str = \"{long}\";\n"),
            format!("const A: &str = r\"{words}\";\n"),
            format!("const A: &str = \"\n{words}\n\";\n"),
            format!("// See https://example.com/{long}\n"),
            format!("#[cfg(test)]\nmod t {{\n    const A: &str = \"{words}\";\n}}\n"),
            format!("//{}\n", "字".repeat(98)),
        ];
        for text in good {
            assert_eq!(sizes_of("crates/x/src/a.rs", &text), Vec::<String>::new());
        }
        let bad = [
            format!("const A: &str = \"{words}\";\n"),
            format!("// {words}\n"),
            format!("const {long}: &str = \"b\";\n"),
        ];
        for text in bad {
            assert_eq!(sizes_of("crates/x/src/a.rs", &text).len(), 1, "{text}");
        }
        let entry = format!("const A: &str = \"{words}\";\n");
        assert_eq!(sizes_of("crates/text/build/generate.rs", &entry), Vec::<String>::new());
    }

    #[test]
    fn wide_traits_structs_and_error_enums_are_complained_about() {
        let many = |n: usize, part: &str| part.repeat(n);
        let shapes: [(&str, &str, usize); 3] = [
            ("pub trait A { ", "fn f();", TRAIT_METHODS_MAX),
            ("struct A { ", "b: u8,", STRUCT_FIELDS_MAX),
            ("#[derive(Debug, thiserror::Error)] enum A { ", "B,", ERROR_VARIANTS_MAX),
        ];
        for (open, part, most) in shapes {
            let good = format!("{open}{}}}\n", many(most, part));
            assert_eq!(item_complaints(&good), 0, "{open}");
            let bad = format!("{open}{}}}\n", many(most + 1, part));
            assert_eq!(item_complaints(&bad), 1, "{open}");
        }
        assert_eq!(item_complaints(&format!("enum A {{ {}}}\n", many(11, "B,"))), 0);
        assert_eq!(item_complaints(&format!("trait A {{ {}}}\n", many(11, "fn f();"))), 0);
    }

    fn item_complaints(text: &str) -> usize {
        check_items(Tree::made_of(&[("crates/x/src/a.rs", text)]).rust().next().unwrap()).len()
    }
}
