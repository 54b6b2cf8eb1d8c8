"""What each process makes once for its first page, made before others are forked from this one."""

from api.pages.site import TEMPLATES
from odds.tables import ladder

ladder("standard")
for name in TEMPLATES.list_templates():
    TEMPLATES.get_template(name)
