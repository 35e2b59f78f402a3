// AdminModel: begun.
