//! What came of a comparison, for people and programs.
