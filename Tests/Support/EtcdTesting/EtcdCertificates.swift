internal import Foundation

/// Certificates of a cluster and of its clients, as PEM files.
public struct EtcdCertificates: Sendable {
  /// The authority of all.
  public let authority: String
  /// A client certificate without a common name, as the gateway needs it.
  public let certificate: String
  /// Its key.
  public let key: String
  /// A client certificate with a common name, which the gateway refuses.
  public let namedCertificate: String
  /// Its key.
  public let namedKey: String
  private let serverCertificate: String
  private let serverKey: String

  /// Makes them in a folder.
  public init(in folder: String) throws {
    func path(_ name: String) -> String { "\(folder)/\(name).pem" }
    authority = path("authority")
    certificate = path("client")
    key = path("client-key")
    namedCertificate = path("named")
    namedKey = path("named-key")
    serverCertificate = path("server")
    serverKey = path("server-key")
    let authorityKey = path("authority-key")
    _ = try EtcdProcess.run(
      "openssl",
      ["req", "-x509", "-days", "2", "-subj", "/CN=Test authority", "-out", authority]
        + Self.newKey(authorityKey))
    let authority = authority
    func sign(_ certificate: String, _ key: String, _ subject: String, _ names: String) throws {
      let request = certificate + ".request"
      let extensions = certificate + ".extensions"
      _ = try EtcdProcess.run(
        "openssl", ["req", "-subj", subject, "-out", request] + Self.newKey(key))
      try Data("subjectAltName=\(names)\n".utf8).write(to: URL(filePath: extensions))
      _ = try EtcdProcess.run(
        "openssl",
        [
          "x509", "-req", "-days", "2", "-in", request, "-CA", authority, "-CAkey", authorityKey,
          "-CAcreateserial", "-extfile", extensions, "-out", certificate,
        ])
    }
    try sign(
      serverCertificate, serverKey, "/O=Test cluster",
      "DNS:etcd.test,IP:127.0.0.1,IP:0:0:0:0:0:0:0:1")
    try sign(certificate, key, "/O=Test machine", "DNS:machine.test")
    try sign(namedCertificate, namedKey, "/CN=root", "DNS:machine.test")
  }

  private static func newKey(_ path: String) -> [String] {
    ["-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes", "-keyout", path]
  }

  var serverOptions: [String] {
    [
      "--cert-file", serverCertificate, "--key-file", serverKey, "--trusted-ca-file", authority,
      "--client-cert-auth",
    ]
  }
}
