import FunctionsKit
import Logging
import StorageCore
import TreeModel

extension Dispatcher {
  /// Reads what a lane has on the shelf. Runs on a runner.
  func refill(_ lane: LaneKey) {
    let definition = table.definitions[lane.function]
    // What is put on the shelf from now on may be missed by this look.
    withState { $0.lanes.expectRefill(lane) }
    do throws(StorageError) {
      let (found, isAll) = try engine.read { (snapshot) throws(StorageError) in
        var found: [DeliveryRecord] = []
        var last = DeliveryRecord(place: ReplayItem(event: .first, function: definition.name))
        while found.count < options.behindMax {
          let page = try snapshot.deliveries(in: lane.namespace, state: .waiting, after: last, limit: 512)
          for record in page where record.function == definition.name {
            guard let path = record.event.path.path else { continue }
            let capture = definition.pattern.match(path)?.first?.value ?? ""
            if Key(unchecked: capture) == lane.capture { found.append(record) }
          }
          guard let next = page.last, page.count == 512, next.function == definition.name else { return (found, true) }
          last = next
        }
        return (found, false)
      }
      withState { $0.refill(lane, Array(found.prefix(options.behindMax)), isAll: isAll && found.count <= options.behindMax) }
    } catch {
      logger.error("What \(definition.name) left in storage cannot be read: \(error)")
      let now = clock.now()
      withState { state in
        state.timers.add(.refill(lane), at: now + 1000)
        state.wake(by: now + 1000)
      }
    }
  }

  /// Reads a page of what was kept for a function that is being resumed. Runs on a runner.
  func resume(_ function: Int, _ kept: KeptDeliveries) {
    var kept = kept
    do throws(StorageError) {
      let page = try engine.read { (snapshot) throws(StorageError) in try kept.page(512, from: snapshot) }
      let next = kept
      withState { $0.resume(function, with: page, next: next) }
    } catch {
      logger.error("What was kept for \(table.definitions[function].name) cannot be read: \(error)")
      withState { $0.endResume(function, isDone: false) }
    }
  }
}
