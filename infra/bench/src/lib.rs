//! What the benchmarks share: how they print and draw what they measured.
