internal import KeychainCredentials
internal import KeychainStores
internal import PrephirencesCommandLine

/// The errors of arguments; the argument parser prefixes some with the option's name.
enum UsageText {
  static let expiry =
    "write a date such as 2027-01-31 or 2027-01-31T12:00:00Z, a time from now such as 90d, "
    + "or never"
  static let store =
    "choose one of " + StoreChoice.allCases.map(\.rawValue).joined(separator: ", ")
  static let emptyCollection = "the name of the collection is empty"
  static let oneCollection = "--collection and --session-only exclude each other"
  static let collectionOfKeyring =
    "--collection and --session-only choose the desktop keyring, and --store another store"
  static let vaultOrKeyring =
    "--vault names a vault, and the other options choose the desktop keyring"
  static let attribute = "write a name, an equals sign and a value, such as env=production"
  static let accessibility =
    "choose one of "
    + Accessibility.allCases.map(\.description).joined(separator: ", ")
  static let oneUnlockSource =
    "only one of --passphrase-fd, --passphrase-file, --key-file, --identity, --recovery-code-fd "
    + "and --recovery-code-file can unlock"
  static let exportDescriptorTwice =
    "the export, its passphrase and that of the vault need descriptors of their own"
  static let missingExport = "Missing expected argument '<file>'"
  static let removeOrKeep = "--remove and --keep exclude each other"
  static let removeFromInput = "--remove cannot edit standard input: name a file"
  static let removeOfSession =
    "--remove and --session-only exclude each other: the passwords would be lost with the session"
  static let noExportPassphrase =
    "only an export has a passphrase, and --format names another format"
  static let onlyOfNetrc =
    "--remove, --keep, --store, --collection and --session-only need --format netrc: an export "
    + "goes into the vault"
  static let exportOrJSON = "standard output cannot be both the export and JSON"
  static let serviceOrServer =
    "--service names a generic password and --server an internet password; give one of them"
  static let storeToMove =
    "choose one of " + StorePlace.names.joined(separator: ", ")
  static let abandonAlone =
    "--abandon-source goes with --from secret-service, and of the other options only with "
    + "--service, --server, --all-services and --collection"
  static let sameStores = "--from and --to name the same store"
  static let serviceOrServerToMove =
    "--service names generic passwords and --server internet passwords; give one of them"
  static let toServiceOrServer =
    "--to-service makes a generic password, which has no server; give one of them"
  static let serverMissing =
    "--protocol, --port, --path, --security-domain and --authentication-type need --server"
  static let descriptorOfCommand =
    "the command needs descriptors 1 and 2 itself; the passphrase or code comes from another one"
  static let dashAccount = "an account that begins with a dash goes after --"
  static let hostAlone =
    "with --protocol, --server is the name of the host alone: give the port with --port, and the "
    + "path with --path"
  static let emptyAccount = "the account is empty"
  static let accountOrAttribute = "name an account, or an attribute with --attribute"
  static let nothingToUpdate = "name what to change, such as --label"
  static let createOrExpect = "--create-only and --expected-version exclude each other"
  static let keptOrNewExpiry = "--keep-expiry and --expires exclude each other"
  static let outputIsExact = "--output and --json exclude each other"
  static let secretFromArgument =
    "the secret is read from standard input or asked for, and never taken from an argument; "
    + "--insecure-value takes it from there anyway"
  static let oneKeyFile = "only one of --new-key-file and --with-key-file can be given"
  static let oneSlot =
    "choose one of --passphrase, --new-key-file, --with-key-file, --device and --recipient"
  static let nothingOpens =
    "with --no-device something else must open the vault: --passphrase, --new-key-file, "
    + "--with-key-file or --identity"
  static let inputTwice =
    "standard input cannot be both the secret and what unlocks; use another descriptor"
  static let requestTwice =
    "standard input cannot be both the request and what unlocks; use another descriptor"
  static let nothingToUnlock =
    "a new vault has nothing to unlock; use --new-passphrase-fd, --new-passphrase-file, "
    + "--with-key-file or --identity"
  static let sharedByIdentity =
    "a shared vault is made with --identity, whose owner administers it; who else uses it gets a "
    + "slot with 'slots add --recipient'"
  static let codeFileOfShared =
    "--code-file and --name go with --shared; 'recovery create' makes a code for another vault"
  static let descriptorTwice =
    "what unlocks and --new-passphrase-fd need two descriptors"
  static let grantOfRecipient = "--may goes with --recipient"
  static let check = "write the 32 hexadecimal digits that 'status' shows where the vault is"
  static let replacesFile = "--replace needs a file"
  static let groupOrAll = "--access-group and --all-groups exclude each other"
  static let emptyOutput = "the path of --output is empty"
  static let overwriteOutput = "--overwrite goes with --output"
  static let expiredOrExpiring =
    "--expiring-within includes what has expired; leave --expired out"
  static let timeFromNow = "write a time from now such as 12h, 30d or 1y"
  static let allOrNamedServices =
    "--all-services and a named service or server exclude each other"
  static let otherProgramsOfHost =
    "items of other programs are of no service; add --all-services to list them"
  static let newlineWithJSON = "--newline concerns the plain secret, not --json"

  static let templateTwice =
    "standard input cannot be both the template and what unlocks; use another descriptor"
  static let jsonOfDryRun = "--json goes with --dry-run"
  static let namesOfFiles = "--named-files goes with --file or --netrc"
  static let allowanceOfFiles = "--allow goes with --env-file or --from-environment"

  static func descriptor(_ option: String) -> String {
    "\(option) takes the number of an open file descriptor"
  }
}

/// What users of other secret tools type, and what to type here.
enum OtherToolsUsage {
  /// Returns what to type instead of arguments of another tool, or `nil`.
  static func ofArguments(_ arguments: [String], of command: String) -> OtherUsage? {
    for argument in arguments {
      let option = String(argument.prefix { $0 != "=" })
      if let hint = hint(option, command) {
        return OtherUsage("unknown option '\(option)'", hint: hint)
      }
    }
    return nil
  }

  private static func hint(_ option: String, _ command: String) -> String? {
    switch (command, option) {
    case ("read", "-n"), ("read", "--no-newline"), ("get", "-n"), ("get", "--no-newline"):
      "--newline never leaves the newline out; into a pipe or file, none is written"
    case ("inject", "-i"), ("inject", "--in-file"), ("inject", "-o"), ("inject", "--out-file"):
      "write '\(path) inject TEMPLATE --output FILE', or - for standard input"
    case ("list", "--format"), ("show", "--format"), ("doctor", "--format"), ("status", "--format"),
      ("get", "--format"):
      "--json prints JSON"
    case ("set", "--stdin"):
      "leave it out: the secret is read from standard input if that is no terminal"
    default: nil
    }
  }

  private static var path: String { KeychainCommandContext.current.commandPath }
}
