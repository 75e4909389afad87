/** Bounds the receiver's sockets: when there are too many, the one that has been idle longest makes room. */
import type { Socket } from "node:net";

export interface ConnectionTable {
  enter(socket: Socket): void;
  /** Records one request more (1) or less (-1) in progress on this socket. */
  work(socket: Socket, change: 1 | -1): void;
  evicted(): number;
  /** Number of open sockets. */
  open(): number;
}

/** Oldest sockets examined to find an idle one; if all are busy, the newcomer is closed. */
const LOOKED_AT = 256;

export function createConnectionTable(maxSockets: number): ConnectionTable {
  /** Requests in progress by socket, oldest socket first. */
  const sockets = new Map<Socket, number>();
  let evicted = 0;

  const makeRoom = (newcomer: Socket): void => {
    let looked = 0;
    for (const [socket, working] of sockets) {
      if (working === 0 && socket !== newcomer) return evict(socket);
      if (++looked >= LOOKED_AT) break;
    }
    evict(newcomer);
  };
  const evict = (socket: Socket): void => {
    evicted += 1;
    sockets.delete(socket);
    socket.destroy();
  };

  return {
    enter(socket) {
      sockets.set(socket, 0);
      socket.once("close", () => sockets.delete(socket));
      if (sockets.size > maxSockets) makeRoom(socket);
    },
    work(socket, change) {
      const working = sockets.get(socket);
      if (working !== undefined) sockets.set(socket, working + change);
    },
    evicted: () => evicted,
    open: () => sockets.size,
  };
}
