// PlayerLifecycle: begun.
