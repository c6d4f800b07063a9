//! Durable task queues and fenced leases.
