//! The models that this process could ask: which there are, how they call tools, whether one works.

pub mod calling;
pub mod lists;
pub mod survey;
pub mod trial;
