/// The errors of the arguments of shared stores.
enum SyncUsageText {
  static let onePassword = "--password-file and --password-ref exclude each other"
  static let connectionNeedsStore = "the options for etcd, such as --user, go with --store"
  static let certificateAndKey = "--cert and --key go together"
  static let reference = "--password-ref takes a reference such as keychain://etcd/fleet"
  static let passwordNeedsUser = "there is a password, but no user"
  static let addUser = "add --user"
  static let addUserOrVariable = "add --user, or set ETCDCTL_USER"
  static let addPassword = "add --password-file or --password-ref"
  static let forgetInOneSuite = "--forget needs the name of one suite"
  static let rehearsalOffline = "--dry-run tries the connection, which --offline leaves out"
  static let lastNegative = "--last takes a number that is not negative"
  static let storeNeedsDomain = "name the domain with --domain; --store lists one shared store"
}
