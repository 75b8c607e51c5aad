/// The errors of the arguments of shared stores.
enum SyncUsageText {
  static let onePassword = "--password-file and --password-ref exclude each other"
  static let passwordNeedsStore = "--password-file and --password-ref go with --store"
  static let certificateAndKey = "--cert and --key go together"
  static let lastNegative = "--last takes a number that is not negative"
  static let storeNeedsDomain = "name the domain with --domain; --store lists one shared store"
}
