import KeychainCredentials
import KeychainVaultFormat
import Testing

@testable import KeychainVault

/// The order of sources and questions, without a vault: what follows each event in each state.
@Suite("Steps of unlocking")
struct UnlockingTests {
  private typealias Event = Unlocking.Event
  private typealias Action = Unlocking.Action

  /// What follows an event, and the name of the state after it.
  private typealias Row = (event: Event, action: Action, next: String)

  private static let events: [Event] = [
    .began, .found, .notFound, .presented, .ready, .answered(looksLikeRecoveryCode: false),
    .answered(looksLikeRecoveryCode: true), .cancelled, .otherQuestionEnded, .opened, .wrong,
    .failed,
  ]

  private static let passphrase = Unlocking.Question(kind: .passphrase, takesRecoveryCode: true)

  /// Keys, from all sources, for a person who may type a passphrase or a recovery code.
  private static let usual: [String: [Row]] = [
    "begun": [(.began, .look, "looking")],
    "looking": [
      (.found, .finish(.nowhere), "ended"), (.notFound, .present, "presenting"),
    ],
    "presenting": [
      (.presented, .waitToHash, "waiting to hash"), (.notFound, .waitToAsk, "waiting to ask"),
    ],
    // Who was waited for may have unlocked the vault.
    "waiting to hash": [(.ready, .look, "looking again")],
    "looking again": [(.found, .finish(.nowhere), "ended"), (.notFound, .open, "opening")],
    // A source that is wrong is final: nobody is asked then.
    "opening": [(.opened, .finish(.inKernel), "ended")],
    "waiting to ask": [(.ready, .look, "looking before asking")],
    "looking before asking": [
      (.found, .finish(.nowhere), "ended"),
      (.notFound, .ask(failedAttempts: 0), "asking 0"),
    ],
    "asking 0": asking("0"), "asking 1": asking("1"), "asking 2": asking("2"),
    "code 0": code("0"), "code 1": code("1"), "code 2": code("2"),
    "answer 0": [
      (.opened, .finish(.inKernel), "ended"), (.wrong, .ask(failedAttempts: 1), "asking 1"),
    ],
    "answer 1": [
      (.opened, .finish(.inKernel), "ended"), (.wrong, .ask(failedAttempts: 2), "asking 2"),
    ],
    "answer 2": [
      (.opened, .finish(.inKernel), "ended"), (.wrong, .fail(.ofAnswer), "ended"),
    ],
    "ended": [],
  ]

  private static func asking(_ count: String) -> [Row] {
    [
      (.answered(looksLikeRecoveryCode: false), .openAnswer(as: .passphrase), "answer \(count)"),
      (.answered(looksLikeRecoveryCode: true), .openAnswer(as: .recoveryCode), "code \(count)"),
      (.cancelled, .fail(.cancelled), "ended"),
      (.otherQuestionEnded, .look, "looking before asking"),
    ]
  }

  private static func code(_ count: String) -> [Row] {
    [
      (.opened, .finish(.inKernel), "ended"),
      (.wrong, .openAnswer(as: .passphrase), "answer \(count)"),
    ]
  }

  @Test func keysFromAllSources() {
    check(.keys(.unlockedNow), isExplicit: false, Self.passphrase, Self.usual)
  }

  @Test func explicitSourceIsAlone() {
    let table = Self.usual.merging([
      "opening": [(.opened, .finish(.inHandle), "ended")]
    ]) { _, new in new }.filter { !$0.key.isAboutQuestions }
    // An explicit source is always there.
    check(.keys(.unlockedNow), isExplicit: true, nil, table, except: [.notFound: "presenting"])
  }

  @Test func nobodyIsAsked() {
    let table = Self.usual.merging([
      "presenting": [
        (.presented, .waitToHash, "waiting to hash"), (.notFound, .fail(.locked), "ended"),
      ]
    ]) { _, new in new }.filter { !$0.key.isAboutQuestions }
    check(.keys(.nothing), isExplicit: false, nil, table)
  }

  /// A question for a recovery code has no other answer.
  @Test func recoveryCodeIsAskedFor() {
    var table = Self.usual.filter { !$0.key.hasPrefix("code") }
    for count in ["0", "1", "2"] {
      table["asking \(count)"] = [
        (
          .answered(looksLikeRecoveryCode: false), .openAnswer(as: .recoveryCode), "answer \(count)"
        ),
        (.answered(looksLikeRecoveryCode: true), .openAnswer(as: .recoveryCode), "answer \(count)"),
        (.cancelled, .fail(.cancelled), "ended"),
        (.otherQuestionEnded, .look, "looking before asking"),
      ]
    }
    table["answer 2"] = [
      (.opened, .finish(.inKernel), "ended"), (.wrong, .fail(.ofAction), "ended"),
    ]
    check(
      .keys(.nothing), isExplicit: false,
      Unlocking.Question(kind: .recoveryCode, takesRecoveryCode: true), table)
  }

  /// A slot needs a secret that is presented now: keys that others unlocked meanwhile don't do, and none are kept.
  @Test func slotFromAllSources() {
    var table = Self.usual.mapValues { rows in
      rows.map { row -> Row in
        switch (row.event, row.action) {
        case (.opened, _): (row.event, .finish(.nowhere), row.next)
        case (.otherQuestionEnded, _): (row.event, .ask(failedAttempts: 0), "asking 0")
        default: row
        }
      }
    }.filter { !["looking again", "looking before asking"].contains($0.key) }
    table["waiting to hash"] = [(.ready, .open, "opening")]
    table["waiting to ask"] = [(.ready, .ask(failedAttempts: 0), "asking 0")]
    check(.slot, isExplicit: false, Self.passphrase, table)
    // Nor does the device key, next to an explicit source.
    table["begun"] = [(.began, .present, "presenting")]
    table = table.filter { !$0.key.isAboutQuestions && $0.key != "looking" }
    check(.slot, isExplicit: true, nil, table, except: [.notFound: "presenting"])
  }

  /// Checks what follows each event, and each order of two events, in each state of a table; all that it does not
  /// have ends with the failure of the action.
  private func check(
    _ goal: Unlocking.Goal, isExplicit: Bool, _ question: Unlocking.Question?,
    _ table: [String: [Row]], except unreachable: [Event: String] = [:]
  ) {
    func row(_ state: String, _ event: Event) -> Row {
      table[state]?.first { $0.event == event } ?? (event, .fail(.ofAction), "ended")
    }
    var reached = [
      "begun": Unlocking(goal, isExplicit: isExplicit, question: question)
    ]
    var waiting = ["begun"]
    while let state = waiting.popLast() {
      for event in Self.events where unreachable[event] != state {
        guard var machine = reached[state] else { continue }
        let expected = row(state, event)
        let action = machine.next(event)
        #expect(action == expected.action, "\(event) in \(state)")
        for second in Self.events where unreachable[second] != expected.next {
          var machine = machine
          let action = machine.next(second)
          #expect(
            action == row(expected.next, second).action, "\(event), \(second) in \(state)")
        }
        guard reached[expected.next] == nil else { continue }
        reached[expected.next] = machine
        waiting.append(expected.next)
      }
    }
    #expect(Set(reached.keys) == Set(table.keys))
  }
}

extension String {
  fileprivate var isAboutQuestions: Bool {
    hasPrefix("asking") || hasPrefix("code") || hasPrefix("answer") || hasSuffix("ask")
      || hasSuffix("asking")
  }
}
