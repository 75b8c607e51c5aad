/// Preferences whose values have only numbers that cast to every type that holds them.
package protocol CastableNumberPreferences: PreferencesType {}
