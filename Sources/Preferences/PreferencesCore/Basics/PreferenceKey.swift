/// A preference value, of any type.
public typealias PreferenceObject = Any

/// The name of a preference.
public typealias PreferenceKey = String

/// Preferences as a dictionary.
public typealias PreferencesDictionary = [PreferenceKey: PreferenceObject]
