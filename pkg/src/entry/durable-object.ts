/** `fencepost/durable-object`: a store inside of a Durable Object, and what wakes the object. */
export {
  type DurableObjectContext,
  type DurableObjectStorage,
  durableObject,
} from '../journal/durable-object.js';
export { type Served, type ServeOptions, type Service, serve } from '../serve.js';
