"""Chunks through Dask: in this process, in processes of this machine, or on a cluster."""

import logging
import multiprocessing
import os
import signal
import threading
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from contextlib import contextmanager
from typing import Any

from otspec._base import let_arrow_do_without_pandas, needed

Graph = dict[str, tuple[Any, ...]]
Get = Callable[[Graph, list[str]], Any]  # Dask's way to run a graph, the same for all schedulers

_INTERRUPTS = [getattr(signal, name) for name in ("SIGINT", "SIGHUP") if hasattr(signal, name)]
"""What a terminal sends to all processes of a command."""
_ONE_THREAD = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "NUMBA_NUM_THREADS")


def cores() -> int:
    """Return how many cores this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def run_all(
    tasks: Sequence[tuple[Any, ...]], *, workers: int | None = None, scheduler: str | None = None
) -> None:
    """Run tasks, functions and their arguments, on workers or a Dask scheduler; wait for all."""
    graph = {f"chunk-{index:09}": task for index, task in enumerate(tasks)}
    if not graph:
        return
    number = min(workers or cores(), len(graph))
    with _scheduler(number, scheduler) as get:
        get(graph, list(graph))


@contextmanager
def _scheduler(workers: int, address: str | None) -> Iterator[Get]:
    if address is not None:
        with _cluster(address) as get:
            yield get
    elif workers == 1:
        yield needed("dask.local", "a run over traces", "runs").get_sync
    else:
        with _processes(workers) as get:
            yield get


@contextmanager
def _processes(workers: int) -> Iterator[Get]:
    dask = needed("dask.multiprocessing", "a run over traces", "runs")
    with _one_thread_each(), _deaf_to_interrupts():
        # Fresh processes: a fork would copy the state of threads that do not exist there.
        pool = ProcessPoolExecutor(workers, multiprocessing.get_context("spawn"), begin_worker)
        for _ in range(workers):
            pool.submit(os.getpid)  # starts one more, while none is ready for another task
    try:
        with _one_thread_each():
            yield lambda graph, keys: dask.get(graph, keys, pool=pool, chunksize=1)
    except BrokenProcessPool as error:
        raise ValueError(
            "a worker died, perhaps for lack of memory: use fewer --workers or a smaller --chunk"
        ) from error
    except dask.RemoteException as error:
        raise error.exception from error  # in its words, without the traceback of the worker
    except (KeyboardInterrupt, SystemExit):
        for process in multiprocessing.active_children():
            process.terminate()  # parts are written in one step, so nothing is left half done
        raise
    finally:
        pool.shutdown(cancel_futures=True)


def begin_worker() -> None:
    """Begin a worker: it leaves interrupts to the process that started it, and ends with that."""
    for number in _INTERRUPTS:
        signal.signal(number, signal.SIG_IGN)  # as it was before if it started with the others
    let_arrow_do_without_pandas()
    end_with_parent()


def end_with_parent() -> None:
    """Let this worker end when the process that started it does, however that ends."""
    # Else it would wait for work for ever, and whoever reads its output for it.
    parent = multiprocessing.parent_process()
    if parent is None:
        raise ValueError("this process is no worker: no process started it through multiprocessing")

    def watch(parent: multiprocessing.process.BaseProcess) -> None:
        parent.join()
        os._exit(1)

    threading.Thread(target=watch, args=(parent,), daemon=True).start()


@contextmanager
def _deaf_to_interrupts() -> Iterator[None]:
    """Let the processes that start now ignore what a terminal sends to all of them."""
    # That is Ctrl-C, and that it was closed. Else each would complain at length; this process hears
    # it, and ends them.
    if threading.current_thread() is not threading.main_thread():
        yield  # only the main thread may say so
        return
    before = [signal.signal(number, signal.SIG_IGN) for number in _INTERRUPTS]
    try:
        yield
    finally:
        for number, handler in zip(_INTERRUPTS, before, strict=True):
            signal.signal(number, handler)


@contextmanager
def _one_thread_each() -> Iterator[None]:
    """Let the processes that start now use one thread each: there is one for each core."""
    before = {name: os.environ.get(name) for name in _ONE_THREAD}
    os.environ.update(dict.fromkeys(_ONE_THREAD, "1"))
    try:
        yield
    finally:
        for name, value in before.items():
            if value is None:
                del os.environ[name]
            else:
                os.environ[name] = value


@contextmanager
def _cluster(address: str) -> Iterator[Get]:
    needed("distributed", "--scheduler", "cluster")
    from distributed import Client
    from distributed.scheduler import KilledWorker

    with Client(address, set_as_default=False) as client:
        try:
            yield client.get
        except (KeyboardInterrupt, SystemExit):
            # What the client was waiting for is given up; asyncio would complain at length.
            logging.getLogger("asyncio").setLevel(logging.CRITICAL)
            raise
        except KilledWorker as error:
            raise ValueError(
                f"a worker of {address} died several times, perhaps for lack of memory: give it "
                "more, or use a smaller --chunk"
            ) from error
