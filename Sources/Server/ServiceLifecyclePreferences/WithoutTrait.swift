#if !ServiceLifecycleSupport
// If a program does not enable the trait, the compiler reports it where the name is used.

/// Requires the trait.
@available(
  *, unavailable,
  message: "depend on the package Prephirences with traits: [\"ServiceLifecycleSupport\"]"
)
public enum SharedPreferencesService {}
#endif
