internal import Foundation
internal import KeychainCredentials
internal import KeychainStores

/// How many credentials need a new secret soon, as far as one can see without unlocking.
struct ExpirySummary: Hashable, Sendable {
  /// How many days count as soon.
  static let days = 30

  let expiredCount: Int

  /// How many expire within ``days``, without those that have.
  let expiringCount: Int

  /// How many are locked, so that nothing is known of them.
  let unknownCount: Int

  /// Whether some of the first two are in a named access group, which a list leaves out by itself.
  let needsAllGroups: Bool

  /// Whether there is something to do.
  var needsAttention: Bool { expiredCount + expiringCount > 0 }

  init(_ found: CredentialSearchResult, now: Date = Date()) {
    let soon = now.addingTimeInterval(Double(Self.days) * 86_400)
    let all = found.credentials.filter { $0.isExpired(at: soon) }
    expiredCount = all.count { $0.isExpired(at: now) }
    expiringCount = all.count - expiredCount
    unknownCount = found.lockedCount
    needsAllGroups = all.contains { !$0.identity.accessGroup.isEmpty }
  }

  /// Counts what a service has, or all that the host shows; `nil` if nothing can be looked at.
  init?(_ session: Session, service: ServiceName?) {
    let query = service?.query ?? session.context.narrow(CredentialQuery())
    guard let found = session.stores.glance(query, .whole) else { return nil }
    self.init(found)
  }
}
