# A bot for Auction Hold'em 2024 in a shell: it calls everything, bets nothing, and bids ten.
# It needs bash and nothing else, and is run as `bash player.sh PORT`.

exec 3<>"/dev/tcp/127.0.0.1/${!#}" || exit 1
auction=open

while read -r line <&3; do
  last=${line##* }
  reply=K                                     # nothing is owed, or the hand is over
  case $line in *" H"*) auction=open ;; esac
  case $line in *" N"*) auction=held ;; esac
  case $last in
    Q) exit 0 ;;
    R*) reply=C ;;                            # the other has bet
    H*) case $line in *" P0 "*) reply=C ;; esac ;;  # we are the dealer and owe half a blind
    B* | A*) [ "$auction" = open ] && reply=A10 ;;  # the flop, and no card is sold yet
  esac
  printf '%s\n' "$reply" >&3
done
