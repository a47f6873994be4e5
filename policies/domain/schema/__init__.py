"""A CustomResourceDefinition enforced outside a cluster, as the API server would: one schema, two places."""
