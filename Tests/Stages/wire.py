"""The network between a node and the servers of its PostgreSQL: passed on, cut, or silent. Standard library only."""

import socket
import threading
import time


class Wire:
    """A port of its own for each server; what comes in goes to it, and back."""

    def __init__(self, ports):
        self.is_silent = False
        self._lock = threading.Lock()
        self._open = set()
        self._listeners = []
        for port in ports:
            listener = socket.create_server(("127.0.0.1", 0))
            self._listeners.append(listener)
            threading.Thread(target=self._accept, args=(listener, port), daemon=True).start()

    def url(self):
        hosts = ",".join(f"127.0.0.1:{listener.getsockname()[1]}" for listener in self._listeners)
        return f"postgresql://postgres@{hosts}/postgres"

    def cut(self):
        """Ends every connection, wherever what it carries is."""
        with self._lock:
            sockets, self._open = self._open, set()
        for one in sockets:
            try:
                one.shutdown(socket.SHUT_RDWR)
            except OSError:
                pass
        return len(sockets) // 2

    def close(self):
        for listener in self._listeners:
            listener.close()
        self.cut()

    def _accept(self, listener, port):
        while True:
            try:
                client, _ = listener.accept()
            except OSError:
                return
            try:
                server = socket.create_connection(("127.0.0.1", port), timeout=5)
                server.settimeout(None)
            except OSError:
                client.close()
                continue
            with self._lock:
                self._open |= {client, server}
            for source, target in ((client, server), (server, client)):
                source.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
                threading.Thread(target=self._carry, args=(source, target), daemon=True).start()

    def _carry(self, source, target):
        try:
            while data := source.recv(1 << 16):
                while self.is_silent:
                    time.sleep(0.05)
                target.sendall(data)
        except OSError:
            pass
        with self._lock:
            self._open -= {source, target}
        for one in (source, target):
            try:
                # The other thread may be waiting at it, and would keep it open.
                one.shutdown(socket.SHUT_RDWR)
            except OSError:
                pass
        source.close()
