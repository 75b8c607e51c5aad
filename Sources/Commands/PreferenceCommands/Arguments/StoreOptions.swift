internal import ArgumentParser
internal import PrephirencesCommandLine

/// The options that name a shared store.
struct StoreOptions: ParsableArguments {
  @Option(
    help: .init(
      "A shared store instead of this machine's preferences: etcd+https://host:2379/prefix, or "
        + "etcd+https:///prefix where ETCDCTL_ENDPOINTS, ETCDCTL_CACERT and ETCDCTL_USER say the rest",
      valueName: "address"))
  var store: String?

  @OptionGroup var connection: ConnectionOptions

  func validate() throws {
    guard store != nil || !connection.isGiven else {
      throw ValidationError(SyncUsageText.connectionNeedsStore)
    }
  }
}
