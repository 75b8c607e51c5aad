import Dispatch
import EtcdTesting
import PrephirencesEtcd
import PrephirencesSystem

extension EtcdServer {
  /// A configuration for the cluster, with its certificates.
  var configuration: EtcdConfiguration {
    var configuration = EtcdConfiguration(
      endpoints: ports.map { .init(host: "127.0.0.1", port: $0) }, usesTLS: certificates != nil)
    configuration.certificateAuthority = certificates?.authority
    configuration.certificate = certificates?.certificate
    configuration.key = certificates?.key
    return configuration
  }

  var client: EtcdClient { EtcdClient(configuration) }
}

extension Deadline {
  /// Long enough for anything that works.
  static var test: Deadline { Deadline(after: .seconds(30)) }
}

func bytes(_ text: String) -> [UInt8] { Array(text.utf8) }

extension EtcdCancellation {
  /// Ends a watch that doesn't end by itself, so that the test fails.
  static var test: EtcdCancellation {
    let cancellation = EtcdCancellation()
    DispatchQueue.global().asyncAfter(deadline: .now() + 30) { cancellation.cancel() }
    return cancellation
  }
}
