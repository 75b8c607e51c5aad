public import Prephirences

/// The file is one that only its user can write.
extension DurablePreferences: OwnValuePreferences {}
