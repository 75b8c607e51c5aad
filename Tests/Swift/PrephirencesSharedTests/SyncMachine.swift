import EtcdTesting
import Foundation
import Prephirences
import PrephirencesDurable
import PrephirencesEtcd
import PrephirencesShared
import PrephirencesSystem
import Testing

@testable import PreferencesShared

/// A machine: a folder with a shared file, and a worker.
final class SyncMachine: Sendable {
  struct NotMet: Error, CustomStringConvertible {
    let description: String
  }

  let folder: SyncFolder
  let preferences: DurablePreferences
  let replica: SharedReplica
  let worker: SyncWorker

  // `isOther` is for a file that is used with a connection of its own, as by another process;
  // `prepare` sets values before the file is shared.
  init(
    _ cluster: EtcdServer, _ prefix: String, in folder: SyncFolder? = nil, isOther: Bool = false,
    starts: Bool = true, options: SyncOptions = SyncMachine.options, quotaKeys: Int = 100_000,
    resolver: SyncWorker.Resolver? = nil,
    change: (inout EtcdConfiguration) -> Void = { _ in },
    prepare: (DurablePreferences) throws -> Void = { _ in }
  ) throws {
    self.folder = try folder ?? SyncFolder()
    preferences = DurablePreferences(
      suiteName: "suite", folder: self.folder.path, timeout: .seconds(isOther ? 11 : 10))
    try prepare(preferences)
    replica = SharedReplica(preferences)
    var settings = SharingSettings()
    settings.quota.keys = quotaKeys
    settings.quota.bytes = 1 << 28
    settings.programDecides = resolver != nil
    if try !replica.isShared() { try replica.share(settings) }
    var configuration = cluster.configuration
    change(&configuration)
    worker = SyncWorker(
      replica: replica, cluster: configuration, prefix: prefix, resolver: resolver,
      options: options)
    if starts { worker.start() }
  }

  /// Retries soon, as tests need it.
  static var options: SyncOptions {
    var options = SyncOptions()
    options.greatestBackoff = .milliseconds(300)
    options.pauseWithoutPassword = .milliseconds(300)
    return options
  }

  deinit { worker.stop(.test) }

  subscript(key: String) -> PreferenceObject? {
    get { preferences.object(forKey: key) }
  }

  func text(_ key: String) -> String? { preferences.string(forKey: key) }

  func set(_ value: PreferenceObject?, _ key: String) throws {
    try preferences.storeObject(value, forKey: key)
  }

  func flush() throws { try worker.flush(.test) }

  /// Waits until nothing is unsent; what was given up meanwhile is an error, but a definite one.
  func settle() throws {
    do throws(PreferencesError) {
      try worker.flush(.test)
    } catch {
      guard error.code == .conflict else { throw error }
      try worker.flush(.test)
    }
  }

  /// Waits until a condition is met, and looks again with each change of the file.
  func wait(_ reason: String, seconds: Int = 20, until isMet: () throws -> Bool) throws {
    let deadline = Deadline(after: .seconds(seconds))
    let path = try replica.filePath()
    let watch = try FileWatch(withSuffixes: ["-lock"], noticesEachWrite: true) { path }
    defer { watch.close() }
    while try !isMet() {
      guard !deadline.hasPassed else {
        let report = try? replica.state().report
        throw NotMet(
          description: "\(reason) did not happen; the engine said \(String(describing: report))")
      }
      // Not everything is in the file.
      _ = watch.wait(min(deadline.milliseconds, 200))
    }
  }

  func waitFor(_ value: String?, _ key: String) throws {
    try wait("\(key) = \(value ?? "nothing")") { text(key) == value }
  }

  func waitFor(code: String?) throws {
    try wait("the report \(code ?? "of a contact")") {
      let report = try replica.state().report
      return report != nil && report?.code == code
    }
  }
}

extension EtcdServer {
  var configuration: EtcdConfiguration {
    var configuration = EtcdConfiguration(
      endpoints: ports.map { .init(host: "127.0.0.1", port: $0) }, usesTLS: certificates != nil)
    configuration.certificateAuthority = certificates?.authority
    configuration.certificate = certificates?.certificate
    configuration.key = certificates?.key
    return configuration
  }

  /// One for all tests that leave it as it is; each has a prefix of its own.
  static let shared = Result { try EtcdServer() }

  static var any: EtcdServer { get throws { try shared.get() } }

  static func newPrefix() -> String { "\(UUID().uuidString)/app/" }

  /// The rows of a store.
  func rows(_ prefix: String) throws -> [String: EtcdRow] {
    var rows: [String: EtcdRow] = [:]
    _ = try EtcdClient(configuration).snapshot(
      StoreLayout(prefix: prefix).all, deadline: .test
    ) { page in
      for row in page {
        rows[String(decoding: row.key.dropFirst(prefix.utf8.count), as: UTF8.self)] = row
      }
    }
    return rows
  }
}

extension Deadline {
  /// Long enough for anything that works.
  static var test: Deadline { Deadline(after: .seconds(30)) }
}
