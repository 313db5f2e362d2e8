//! What a build.rs calls: precompiles declared ops and graphs into archives and a bundle
