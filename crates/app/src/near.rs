//! The name that somebody may have meant, if one is like what they wrote.

/// The nearest of these names: one that begins like it, or differs in at most a third of its
/// letters. A far-off name is worse than none.
pub fn near<'a>(name: &str, all: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    let distance = |known: &str| match known.starts_with(name) && !name.is_empty() {
        true => 0,
        false => strsim::damerau_levenshtein(known, name),
    };
    let longer = |known: &str| known.chars().count().max(name.chars().count());
    let nearest = all.into_iter().min_by_key(|known| distance(known))?;
    (distance(nearest) * 3 <= longer(nearest)).then_some(nearest)
}

#[cfg(test)]
mod tests {
    use super::near;

    #[test]
    fn only_what_is_like_it_is_near() {
        let near = |name| near(name, everloop_loops::LOOPS);
        assert_eq!((near("reakt"), near("plan-rplan")), (Some("react"), Some("plan-replan")));
        assert_eq!(near("auto"), Some("autonomous"));
        assert_eq!((near("nope"), near("nonsense"), near("")), (None, None, None));
    }
}
