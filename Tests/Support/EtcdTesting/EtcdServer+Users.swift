extension EtcdServer {
  /// The name and password of the operator after ``enableAuthentication()``, for ``control(_:node:user:)``.
  public static let operatorLogin = "root:test-root"

  /// Lets only users in.
  public func enableAuthentication() throws {
    try control(["user", "add", Self.operatorLogin])
    try control(["user", "grant-role", "root", "root"])
    try control(["auth", "enable"])
  }

  /// Adds a user and a role of the same name, who may read, or read and write, keys with a prefix.
  public func addUser(
    _ name: String, password: String, prefix: String, mayWrite: Bool = true
  ) throws {
    let login = Self.operatorLogin
    try control(["user", "add", "\(name):\(password)"], user: login)
    try control(["role", "add", name], user: login)
    try control(
      ["role", "grant-permission", name, "--prefix=true", mayWrite ? "readwrite" : "read", prefix],
      user: login)
    try control(["user", "grant-role", name, name], user: login)
  }

  /// Takes the role away from a user.
  public func revokeUser(_ name: String) throws {
    try control(["user", "revoke-role", name, name], user: Self.operatorLogin)
  }

  /// Gives it back.
  public func grantUser(_ name: String) throws {
    try control(["user", "grant-role", name, name], user: Self.operatorLogin)
  }
}
