import Foundation
import Prephirences
import PrephirencesEtcd
import PrephirencesShared
import PrephirencesSystem
import Testing

@testable import PreferencesShared

@Suite("Settings of sharing")
struct PreferencesConfigurationTests {
  private let machine: PreferencesMachine

  init() throws { machine = try PreferencesMachine() }

  private func load() throws -> SharingConfiguration? {
    try SharingConfiguration.load(suiteName: "fleet", environment: machine.environment)
  }

  private func write(_ text: String, mode: Int = 0o600) throws {
    let folder = machine.folder + "/prephirences/shared"
    try FileManager.default.createDirectory(
      atPath: folder, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
    #expect(
      FileManager.default.createFile(
        atPath: machine.configurationPath, contents: Data(text.utf8),
        attributes: [.posixPermissions: mode]))
  }

  private func failure(_ body: () throws -> Void) -> PreferencesError? {
    do {
      try body()
      return nil
    } catch {
      return error as? PreferencesError
    }
  }

  @Test func everyFieldIsKept() throws {
    #expect(try load() == nil)
    var configuration = SharingConfiguration(address: "etcd+https://a:2379,b:2379/p")
    configuration.store = "settings"
    configuration.certificateAuthority = "/authority.pem"
    configuration.certificate = "/client.pem"
    configuration.key = "/client-key.pem"
    configuration.user = "reader"
    configuration.passwordFile = "/run/password"
    configuration.proxy = "http://proxy:3128"
    configuration.quotaKeys = 10_000
    configuration.quotaBytes = 1 << 24
    configuration.programDecides = true
    configuration.machine = "web 1"
    try configuration.save(suiteName: "fleet", environment: machine.environment)
    #expect(try load() == configuration)
    let attributes = try FileManager.default.attributesOfItem(atPath: machine.configurationPath)
    #expect(attributes[.posixPermissions] as? Int == 0o600)
    #expect(
      try SharingConfiguration.suiteNames(environment: machine.environment) == ["fleet"])
    try SharingConfiguration.remove(suiteName: "fleet", environment: machine.environment)
    try SharingConfiguration.remove(suiteName: "fleet", environment: machine.environment)
    #expect(try load() == nil)
    #expect(try SharingConfiguration.suiteNames(environment: machine.environment).isEmpty)
  }

  @Test(arguments: [
    (#"{"address": "etcd+https://a/p", "adress": "x"}"#, "adress"),
    (#"{"address": "etcd+https://a/p", "quotaKeys": "many"}"#, "quotaKeys"),
    (#"{"address": "etcd+https://a/p", "quotaKeys": 0}"#, "quotaKeys"),
    (#"{"address": 1}"#, "address"), (#"{}"#, "address"), (#"{"address": "#, "JSON"),
    (#"{"address": "etcd+https://a/p", "store": "a/b"}"#, "store"),
    (#"{"address": "etcd+https://a/p", "machine": ""}"#, "machine"),
    (#"{"address": "etcd+https://a/p", "machine": "a\u0007"}"#, "machine"),
    (#"{"address": "etcd+https://a/p", "certificate": "/c.pem"}"#, "certificate"),
    (#"{"address": "etcd+https://a/p", "user": "name:secret"}"#, "user"),
    (#"{"address": "etcd+https://a/p", "proxy": "http://u:secret@proxy"}"#, "proxy"),
    (#"{"address": "etcd+http://127.0.0.1/p", "proxy": "http://proxy:3128"}"#, "proxy"),
    (#"{"address": "etcd+https://name:secret@a/p"}"#, "address"),
    (#"{"address": "etcd+https:///p"}"#, "endpoint"),
    (#"{"address": "etcd+https://a/p", "passwordFile": "/f"}"#, "user"),
    (#"{"address": "etcd+http://example.org:2379/p"}"#, "TLS"),
    (
      #"{"address": "etcd+https://a/p", "passwordFile": "/f", "passwordReference": "r"}"#,
      "passwordFile"
    ),
  ])
  func unusableSettingIsNamed(_ text: String, _ name: String) throws {
    try write(text)
    let error = failure { _ = try load() }
    #expect(error?.code == .invalidAddress)
    #expect(error?.message.contains(name) == true)
    #expect(error?.message.contains("secret") == false)
  }

  @Test func fileOfOthersIsRefused() throws {
    try write(#"{"address": "etcd+https://a/p"}"#, mode: 0o644)
    #expect(failure { _ = try load() }?.code == .insecure)
  }

  @Test func suitesThatCannotBeAreRefused() {
    let error = failure {
      _ = try SharingConfiguration.load(suiteName: "../fleet", environment: machine.environment)
    }
    #expect(error?.code == .invalidName)
  }

  @Test func variablesCompleteAnAddressWithoutEndpoints() throws {
    let environment = EnvironmentVariables([
      "ETCDCTL_ENDPOINTS": "https://a:2379,b:2380", "ETCDCTL_CACERT": "/authority.pem",
      "ETCDCTL_CERT": "/client.pem", "ETCDCTL_KEY": "/key.pem", "ETCDCTL_USER": "reader",
    ])
    var open = SharingConfiguration(address: "etcd+https:///fleet/eu")
    open.passwordFile = "/run/password"
    // Only once: what is saved names all of it.
    #expect(failure { _ = try open.cluster(suiteName: "suite") }?.code == .invalidAddress)
    let completed = try open.completed(by: environment)
    #expect(completed.address == "etcd+https://a:2379,b:2380/fleet/eu")
    let (client, prefix) = try completed.cluster(suiteName: "suite")
    #expect(client.endpoints.map(\.host) == ["a", "b"])
    #expect(client.endpoints.map(\.port) == [2379, 2380])
    #expect(client.certificateAuthority == "/authority.pem")
    #expect(client.certificate == "/client.pem" && client.key == "/key.pem")
    #expect(client.user == "reader" && client.usesTLS)
    #expect(prefix == "fleet/eu/suite/")

    // Another cluster gets nothing of it.
    var named = SharingConfiguration(address: "etcd+https://c:2379")
    named.store = "settings"
    let (other, otherPrefix) = try named.completed(by: environment).cluster(suiteName: "suite")
    #expect(other.endpoints.map(\.host) == ["c"])
    #expect(other.user == nil && other.certificate == nil && other.certificateAuthority == nil)
    #expect(otherPrefix == "settings/")
  }

  @Test(arguments: [
    ["ETCDCTL_ENDPOINTS": ""], ["ETCDCTL_ENDPOINTS": "http://a:2379"],
    ["ETCDCTL_ENDPOINTS": "a:2379", "ETCDCTL_USER": "reader:secret"],
    ["ETCDCTL_ENDPOINTS": "a:2379", "ETCDCTL_CERT": "/c.pem"],
    // There is no password for the user.
    ["ETCDCTL_ENDPOINTS": "a:2379", "ETCDCTL_USER": "reader"],
  ])
  func variablesThatCannotBeUsedAreRefused(_ variables: [String: String]) {
    let configuration = SharingConfiguration(address: "etcd+https:///fleet")
    let error = failure {
      _ = try configuration.completed(by: EnvironmentVariables(variables))
        .cluster(suiteName: "suite")
    }
    #expect(error?.code == .invalidAddress)
    #expect(error?.message.contains("secret") == false)
  }

  @Test func sharingRecordsWhatTheVariablesSay() throws {
    let environment = EnvironmentVariables([
      "HOME": machine.folder, "XDG_CONFIG_HOME": machine.folder, "XDG_DATA_HOME": machine.folder,
      "ETCDCTL_ENDPOINTS": "127.0.0.1:1",
    ])
    try SharedPreferences.share(
      suiteName: "fleet", with: SharingConfiguration(address: "etcd+http:///p"), folder: nil,
      environment: environment)
    #expect(try load()?.address == "etcd+http://127.0.0.1:1/p")
    try SharedPreferences.stopSharing(suiteName: "fleet", folder: nil, environment: environment)
  }

  @Test func variablesAloneChooseNoStore() throws {
    let environment = EnvironmentVariables([
      "HOME": machine.folder, "XDG_CONFIG_HOME": machine.folder,
      "ETCDCTL_ENDPOINTS": "https://a:2379",
    ])
    #expect(try SharingConfiguration.load(suiteName: "fleet", environment: environment) == nil)
    let preferences = SharedPreferences(
      suiteName: "fleet", folder: nil, environment: environment, conflicts: nil)
    #expect(preferences.worker == nil)
  }

  @Test func passwordIsReadFromAPrivateFile() throws {
    let path = machine.folder + "/password"
    var configuration = SharingConfiguration(address: "etcd+https://a/p")
    configuration.user = "reader"
    configuration.passwordFile = path
    func password(_ variables: [String: String] = [:]) throws -> [UInt8]? {
      try configuration.cluster(suiteName: "s", environment: EnvironmentVariables(variables))
        .client.password?()
    }
    func put(_ text: String, mode: Int) {
      let made = FileManager.default.createFile(
        atPath: path, contents: Data(text.utf8), attributes: [.posixPermissions: mode])
      #expect(made)
    }
    #expect(throws: EtcdError.self) { _ = try password() }
    put("pass word\n", mode: 0o600)
    #expect(try password() == Array("pass word".utf8))
    put("", mode: 0o600)
    #expect(throws: EtcdError.self) { _ = try password() }
    put("secret\n", mode: 0o640)
    #expect { _ = try password() } throws: { error in
      (error as? EtcdError)?.code == .passwordUnavailable && !"\(error)".contains("secret")
    }
    // The system lets a group read the credentials of a service.
    #expect(try password(["CREDENTIALS_DIRECTORY": machine.folder]) == Array("secret".utf8))
  }

  @Test func referenceWithoutAReaderSaysWhoReadsIt() throws {
    let error = #expect(throws: EtcdError.self) {
      _ = try PasswordReferences().password(at: "keychain://etcd/fleet")
    }
    #expect(error?.code == .passwordUnavailable)
    #expect(error?.message.contains("call SharedPreferences.readReferences") == true)
    let references = PasswordReferences()
    references.read { reference in Array("password of \(reference)".utf8) }
    #expect(try references.password(at: "r") == Array("password of r".utf8))
    references.read { _ in throw CancellationError() }
    #expect(throws: EtcdError.self) { _ = try references.password(at: "r") }
  }
}
