// `import PrephirencesDurable` is enough: keys, values, errors and observers are those of
// preferences.
@_exported public import PreferencesDurable
@_exported public import Prephirences
