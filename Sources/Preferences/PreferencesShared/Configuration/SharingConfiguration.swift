/// Where a suite of preferences is shared.
///
/// It lies in the file `prephirences/shared/SUITE.json` in the folder that `XDG_CONFIG_HOME` names,
/// or in `.config` in the home folder, so that every program of the user shares the suite alike.
/// The file belongs to the user alone (0600), and has no password in it.
public struct SharingConfiguration: Sendable, Hashable {
  /// The address of the store: `etcd+https://a:2379,b:2379/prefix`, without a name or password.
  ///
  /// `etcd+http` is for addresses of this machine only. In `etcd+https:///prefix`, the variables
  /// `ETCDCTL_ENDPOINTS`, `ETCDCTL_CACERT`, `ETCDCTL_CERT`, `ETCDCTL_KEY` and `ETCDCTL_USER` say
  /// what is left open, when sharing begins: the file has what they said.
  public var address: String

  /// The name of the store under the prefix; `nil` for that of the suite.
  public var store: String?

  /// The path of a file with the certificates of authorities; `nil` for those of the system.
  public var certificateAuthority: String?

  /// The path of the client's certificate, which has no common name.
  public var certificate: String?

  /// The path of its key.
  public var key: String?

  /// The name of the user.
  public var user: String?

  /// The path of a file with the password of the user, which nobody else can read.
  public var passwordFile: String?

  /// Where the password of the user is instead, such as `keychain://etcd/fleet`; see
  /// ``SharedPreferences/readReferences(_:)``.
  public var passwordReference: String?

  /// The address of an HTTP proxy; those that the environment names are ignored.
  public var proxy: String?

  /// The greatest number of keys; `nil` for 1024.
  public var quotaKeys: Int?

  /// The greatest size of all keys and values, in bytes; `nil` for 1 MiB.
  public var quotaBytes: Int?

  /// Whether conflicts wait for a program that decides them, and so for one that gives
  /// ``SharedPreferences`` a closure; `nil` if the first such program says so.
  public var programDecides: Bool?

  /// What other machines call this one, which proves nothing; `nil` for the name of the host.
  public var machine: String?

  /// Creates a configuration.
  ///
  /// - Parameter address: The address of the store.
  public init(address: String) { self.address = address }
}
