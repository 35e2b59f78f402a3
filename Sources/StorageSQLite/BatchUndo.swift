internal import StorageCore
internal import TreeModel

/// How one step of a batch is taken back.
enum BatchUndo {
  case node(NamespaceID, PathBytes, BatchOverlay.PendingLeaf?)
  case commit(NamespaceID)
  case event(NamespaceID)
  case entry(NamespaceID)
  case settled(NamespaceID, Revision?)
  case head(NamespaceID, NamespaceHead?)
  case audit
  case upkeep(NamespaceID)
  indirect case execution(NamespaceID, FunctionKey, ExecutionRecord?)
  indirect case delivery(NamespaceID, FunctionKey, DeliveryRecord??)
  indirect case balance(NamespaceID, BalanceKey, Int64?)
  indirect case outbox(NamespaceID, ExactText, OutboxRecord?)
  indirect case idempotency(NamespaceID, ExactText, IdempotencyRecord?)
  indirect case place(NamespaceID, PlaceKey, Bool?)
  indirect case index(NamespaceID, IndexID, IndexRecord??)
  indirect case rules(NamespaceID, RulesRecord?)
  indirect case accountRow(NamespaceID, AccountRow.Key, AccountRow??)
  case removedPlaces(NamespaceID)
  indirect case record(NamespaceID, RecordKey, String??)
  indirect case function(ExactText, FunctionRecord?)
  /// Rare steps that touch everything keep the whole batch as it was.
  indirect case whole(Batch)
}
