//! Resolve, verify, load, dispatch; JIT on a miss where policy allows
