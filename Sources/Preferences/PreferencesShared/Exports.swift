// Keys, transactions, values, errors and observers are those of durable preferences.
@_exported public import PreferencesDurable
