"""Writes that the rules refuse: they must cost the server little, and other players nothing to speak of."""


def a_refused_write_says_just_that(server, checks):
    stranger = server.client()
    answer = stranger.ask("PUT", "/users/x.json", {"level": 1})
    checks.check("a stranger's write is refused with 401", answer.status == 401 and "Permission denied" in answer.text, answer.text)
    player = server.player()
    answer = player.ask("PUT", player.home("/level"), 4)
    checks.check("a player's own is not", answer.status == 200, answer.text)


CHECKS = [a_refused_write_says_just_that]
