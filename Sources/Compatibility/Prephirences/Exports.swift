// Protocols, values, errors and observers are those of the core.
@_exported public import PreferencesCore
