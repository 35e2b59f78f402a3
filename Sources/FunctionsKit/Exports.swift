// An author imports FunctionsKit and nothing else: paths and nodes are part of what a function sees.
@_exported public import TreeModel
