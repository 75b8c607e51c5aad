// `import PrephirencesShared` is enough: keys, transactions, values, errors and observers are those
// of durable preferences.
@_exported public import PreferencesShared
@_exported public import PrephirencesDurable
