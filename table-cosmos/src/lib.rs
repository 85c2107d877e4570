//! Azure Cosmos DB for NoSQL as a backend.
