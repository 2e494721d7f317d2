//! React, branch by branch.

mod answers;
mod context;
mod ends;
mod guards;
