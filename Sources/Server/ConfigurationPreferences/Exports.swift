// A program needs only `import ConfigurationPreferences` to name its preferences.
@_exported public import PreferencesCore
@_exported public import PreferencesDurable
