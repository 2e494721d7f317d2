//! Landlock: a process gives up access to all files but some, and to processes outside.

use super::inner::FileAccess;
use landlock::{
    ABI, Access, AccessFs, CompatLevel, Compatible, Ruleset, RulesetAttr, RulesetCreatedAttr,
    RulesetError, RulesetStatus, Scope, path_beneath_rules,
};

/// The oldest version that is used: earlier ones do not restrict truncation.
const NEEDED: ABI = ABI::V3;

/// The newest version of which something is used: it restricts signals and abstract sockets.
const WANTED: ABI = ABI::V6;

/// Gives up what is not listed, for this process and all that it starts.
pub(crate) fn restrict(files: &FileAccess) -> Result<(), String> {
    match build(files) {
        Ok(RulesetStatus::NotEnforced) => Err("the kernel has none".to_owned()),
        Ok(_) => Ok(()),
        Err(error) => Err(error.to_string()),
    }
}

fn build(files: &FileAccess) -> Result<RulesetStatus, RulesetError> {
    let read = AccessFs::from_read(WANTED);
    let all = AccessFs::from_all(WANTED);
    let status = Ruleset::default()
        .set_compatibility(CompatLevel::HardRequirement)
        .handle_access(AccessFs::from_all(NEEDED))?
        .set_compatibility(CompatLevel::BestEffort)
        .handle_access(all)?
        .scope(Scope::from_all(WANTED))?
        .create()?
        .add_rules(path_beneath_rules(&files.read, read))?
        .add_rules(path_beneath_rules(&files.write, all))?
        .restrict_self()?;
    Ok(status.ruleset)
}
