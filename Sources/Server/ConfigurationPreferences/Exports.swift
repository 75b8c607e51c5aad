// A program needs only `import ConfigurationPreferences` to read a configuration, and to name its preferences.
@_exported public import PreferencesCore
@_exported public import PreferencesDurable

#if ConfigurationSupport
@_exported public import Configuration
#endif
