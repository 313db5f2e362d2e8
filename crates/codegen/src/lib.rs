//! C code generation: CType, COp, CLinker; graph to module source
