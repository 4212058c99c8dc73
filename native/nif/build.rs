//! Link settings of the shared object.

fn main() {
    println!("cargo::rerun-if-changed=build.rs");
    let target = std::env::var("CARGO_CFG_TARGET_OS").unwrap_or_default();
    if target == "linux" {
        // Native threads run in this library until the VM ends, so it must never be unmapped under them.
        println!("cargo::rustc-cdylib-link-arg=-Wl,-z,nodelete");
    }
    if target == "macos" {
        // The VM resolves the NIF interface when it loads the library.
        println!("cargo::rustc-cdylib-link-arg=-Wl,-undefined,dynamic_lookup");
    }
}
