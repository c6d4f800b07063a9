/** Engines that do not do what an engine does: the simulation must find each of them. */
import type { EngineModule } from '../../../pkg/dist/load.js';
import type { Bridge } from '../../../pkg/dist/requests.js';

/** The real engines, with something else in the place of what `change` names. */
export function brokenEngine(change: (engine: Bridge) => Partial<Bridge>) {
  return (module: EngineModule): EngineModule => ({
    create: (options) => {
      const engine = module.create(options);
      const changes = change(engine);
      return new Proxy(engine, {
        get: (target, name: keyof Bridge) => {
          if (Object.hasOwn(changes, name)) return changes[name];
          const value: unknown = Reflect.get(target, name, target);
          return typeof value === 'function' ? value.bind(target) : value;
        },
      });
    },
  });
}

/** Sets the log's time back in place of firing. */
export function turningBack(engine: Bridge): Partial<Bridge> {
  return { fireDue: () => ({ tasks: engine.repairClock(1, []) ? 1 : 0, more: false }) };
}
