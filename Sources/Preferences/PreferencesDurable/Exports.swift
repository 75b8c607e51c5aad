// Keys, values, errors and observers are those of preferences.
@_exported public import PreferencesCore
