//! Simulated policies: models without a network that act from what they are shown alone.
