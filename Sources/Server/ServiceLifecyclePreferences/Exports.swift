// A program needs only `import ServiceLifecyclePreferences` to name its preferences.
@_exported public import PreferencesShared
