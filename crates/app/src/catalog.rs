//! What a run can be made of, for pages and programs: loops, personas and skills.

mod loops;
mod personas;
mod skills;

pub use crate::context::skills::SkillOwner;
pub use loops::{LoopInfo, loop_infos};
pub use personas::{PersonaInfo, persona_info, persona_infos};
pub use skills::{SkillDetails, SkillInfo, SkillList, UnusableSkill, find_skill};
