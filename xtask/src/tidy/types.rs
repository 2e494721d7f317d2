//! Types over the whole workspace: each name is defined once, and no type has too many methods.
//!
//! Only production code counts. Types and methods that a macro generates are not seen.

use crate::{Complaint, Tree, TreeFile};
use proc_macro2::Ident;
use std::collections::BTreeMap;
use syn::visit::{self, Visit};

const METHODS_MAX: usize = 40;

/// Names that may be defined more than once, each with the reason.
const SHARED_NAMES: &[(&str, &str)] = &[];

/// A struct, enum, union, trait or type alias has a name that no other type of the workspace has,
/// and the inherent methods of a type in all files of its crate stay few.
#[must_use]
pub fn check_types(tree: &Tree) -> Vec<Complaint> {
    check_types_except(tree, SHARED_NAMES)
}

fn check_types_except(tree: &Tree, shared: &[(&str, &str)]) -> Vec<Complaint> {
    let mut definitions: BTreeMap<String, Vec<(&TreeFile, usize)>> = BTreeMap::new();
    let mut impls: BTreeMap<(&str, String), Vec<ImplBlock<'_>>> = BTreeMap::new();
    for file in tree.rust() {
        let found = TypeVisitor::visit(file);
        for (name, line) in found.definitions {
            definitions.entry(name).or_default().push((file, line));
        }
        for (name, block) in found.impls {
            impls.entry((crate_of(file), name)).or_default().push(block);
        }
    }
    let is_shared = |name: &str| shared.iter().any(|(exception, _)| *exception == name);
    let repeated = definitions.iter().filter(|(_, places)| places.len() > 1);
    let unexcused = repeated.filter(|(name, _)| !is_shared(name));
    let mut complaints: Vec<Complaint> =
        unexcused.map(|(name, places)| repeated_name(name, places)).collect();
    complaints.extend(impls.iter().filter_map(|((_, name), blocks)| check_methods(name, blocks)));
    complaints
}

fn repeated_name(name: &str, places: &[(&TreeFile, usize)]) -> Complaint {
    let (first, line) = places[0];
    let others: Vec<String> =
        places[1..].iter().map(|(file, line)| format!("{}:{line}", file.path)).collect();
    let text = format!("type name `{name}` is also used at {}", others.join(", "));
    first.complain(line, text + "; add its context to the name of the narrower type")
}

fn check_methods(name: &str, blocks: &[ImplBlock<'_>]) -> Option<Complaint> {
    let total: usize = blocks.iter().map(|block| block.methods).sum();
    if total <= METHODS_MAX {
        return None;
    }
    let parts: Vec<String> = blocks
        .iter()
        .map(|block| format!("{}:{} ({})", block.file.path, block.line, block.methods))
        .collect();
    let text = format!("type `{name}` has {total} methods, at most {METHODS_MAX}");
    let text = format!("{text}: {}; move a group of them to its own type", parts.join(", "));
    Some(blocks[0].file.complain(blocks[0].line, text))
}

/// `crates/store` for all files below it, `xtask` for those of this crate.
fn crate_of(file: &TreeFile) -> &str {
    let folders = if file.path.starts_with("crates/") { 2 } else { 1 };
    let end = file.path.match_indices('/').nth(folders - 1).map(|(at, _)| at);
    &file.path[..end.unwrap_or(file.path.len())]
}

struct ImplBlock<'a> {
    file: &'a TreeFile,
    line: usize,
    methods: usize,
}

/// Collects the types and the inherent `impl` blocks of one file, without those of tests.
struct TypeVisitor<'a> {
    file: &'a TreeFile,
    definitions: Vec<(String, usize)>,
    impls: Vec<(String, ImplBlock<'a>)>,
}

impl<'a> TypeVisitor<'a> {
    /// A file with a syntax error is left to `check_sizes`, which reports the error.
    fn visit(file: &'a TreeFile) -> Self {
        let mut visitor = Self { file, definitions: Vec::new(), impls: Vec::new() };
        if !file.is_test()
            && let Ok(parsed) = syn::parse_file(&file.text)
        {
            visitor.visit_file(&parsed);
        }
        visitor
    }

    fn define(&mut self, name: &Ident) {
        let line = name.span().start().line;
        if !self.file.is_test_line(line) {
            self.definitions.push((name.to_string(), line));
        }
    }
}

impl<'ast> Visit<'ast> for TypeVisitor<'_> {
    fn visit_item_struct(&mut self, item: &'ast syn::ItemStruct) {
        self.define(&item.ident);
    }

    fn visit_item_enum(&mut self, item: &'ast syn::ItemEnum) {
        self.define(&item.ident);
    }

    fn visit_item_union(&mut self, item: &'ast syn::ItemUnion) {
        self.define(&item.ident);
    }

    fn visit_item_type(&mut self, item: &'ast syn::ItemType) {
        self.define(&item.ident);
    }

    fn visit_item_trait(&mut self, item: &'ast syn::ItemTrait) {
        self.define(&item.ident);
        visit::visit_item_trait(self, item);
    }

    fn visit_item_impl(&mut self, item: &'ast syn::ItemImpl) {
        visit::visit_item_impl(self, item);
        let syn::Type::Path(path) = &*item.self_ty else { return };
        let Some(last) = path.path.segments.last() else { return };
        let line = item.impl_token.span.start().line;
        if item.trait_.is_some() || self.file.is_test_line(line) {
            return;
        }
        let methods = item.items.iter().filter(|part| matches!(part, syn::ImplItem::Fn(_))).count();
        let block = ImplBlock { file: self.file, line, methods };
        self.impls.push((last.ident.to_string(), block));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tidy::said;

    const NONE: [&str; 0] = [];

    #[test]
    fn a_type_name_that_occurs_twice_is_reported_with_every_place() {
        let first = ("crates/a/src/lib.rs", "pub struct Found;\n");
        for second in [
            "\nstruct Found { a: u8 }\n",
            "\nenum Found { A }\n",
            "\nunion Found { a: u8 }\n",
            "\npub trait Found {}\n",
            "\npub(crate) type Found = u8;\n",
            "fn f() {\nstruct Found;\n}\n",
            "mod inner {\npub enum Found {}\n}\n",
        ] {
            let files = [first, ("crates/b/src/c.rs", second)];
            assert_eq!(
                said(check_types, &files),
                ["crates/a/src/lib.rs:1: type name `Found` is also used at crates/b/src/c.rs:2; \
                  add its context to the name of the narrower type"],
                "{second}"
            );
        }
        let three = [first, ("crates/a/src/x.rs", first.1), ("xtask/src/y.rs", first.1)];
        let reported = said(check_types, &three);
        assert_eq!(reported.len(), 1);
        assert!(reported[0].contains("crates/a/src/x.rs:1, xtask/src/y.rs:1;"), "{reported:?}");
    }

    #[test]
    fn tests_associated_types_and_variants_may_repeat_a_type_name() {
        let first = ("crates/a/src/lib.rs", "pub struct Found;\n");
        for (path, text) in [
            ("crates/b/src/c.rs", "#[cfg(test)]\nmod tests {\nstruct Found;\n}\n"),
            ("crates/b/src/c.rs", "impl Iterator for A {\ntype Found = u8;\n}\n"),
            ("crates/b/src/c.rs", "trait A {\ntype Found;\n}\n"),
            ("crates/b/src/c.rs", "enum A { Found }\n"),
            ("crates/b/src/c.rs", "use a::Found;\nfn found() -> Found { Found }\n"),
            ("crates/b/tests/c.rs", "struct Found;\n"),
            ("crates/b/src/c_tests.rs", "struct Found;\n"),
            ("crates/b/benches/c.rs", "struct Found;\n"),
            ("crates/b/examples/c.rs", "struct Found;\n"),
        ] {
            assert_eq!(said(check_types, &[first, (path, text)]), NONE, "{path}: {text}");
        }
    }

    #[test]
    fn an_exception_excuses_its_own_name_only() {
        let text = "struct Found;\nstruct Place;\n";
        let tree = Tree::made_of(&[("crates/a/src/a.rs", text), ("crates/b/src/b.rs", text)]);
        let reported = check_types_except(&tree, &[("Found", "a reason")]);
        assert_eq!(reported.len(), 1);
        assert!(reported[0].text.contains("`Place`"), "{reported:?}");
        let without_reason = SHARED_NAMES.iter().find(|(_, reason)| reason.is_empty());
        assert_eq!(without_reason, None);
    }

    fn impl_block(head: &str, methods: usize) -> String {
        let methods: String = (0..methods).map(|n| format!("fn f{n}() {{}}\n")).collect();
        format!("{head} {{\n{methods}}}\n")
    }

    #[test]
    fn the_methods_of_a_type_are_summed_over_all_files_of_its_crate() {
        let [twenty, more] =
            [impl_block("impl<T> Store<T>", 20), impl_block("impl crate::Store<u8>", 21)];
        let files = [("crates/a/src/lib.rs", &*twenty), ("crates/a/src/b/c.rs", &*more)];
        assert_eq!(
            said(check_types, &files),
            ["crates/a/src/lib.rs:1: type `Store` has 41 methods, at most 40: \
              crates/a/src/lib.rs:1 (20), crates/a/src/b/c.rs:1 (21); \
              move a group of them to its own type"]
        );
        let elsewhere = [files[0], ("crates/b/src/lib.rs", &*more)];
        assert_eq!(said(check_types, &elsewhere), NONE);
        let at_limit = [files[0], ("crates/a/src/b/c.rs", &*twenty)];
        assert_eq!(said(check_types, &at_limit), NONE);
    }

    #[test]
    fn methods_of_traits_and_of_tests_do_not_count() {
        let forty = impl_block("impl Store", 40);
        for (path, text) in [
            ("crates/a/src/b.rs", impl_block("impl Clone for Store", 1)),
            ("crates/a/src/b.rs", "#[cfg(test)]\n".to_owned() + &impl_block("impl Store", 1)),
            ("crates/a/src/b_tests.rs", impl_block("impl Store", 1)),
            ("crates/a/tests/b.rs", impl_block("impl Store", 1)),
        ] {
            let files = [("crates/a/src/lib.rs", &*forty), (path, &*text)];
            assert_eq!(said(check_types, &files), NONE, "{path}: {text}");
        }
    }
}
